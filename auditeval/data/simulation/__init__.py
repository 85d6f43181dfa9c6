"""Simulated edits of real and synthetic sounds, with known faults and a simulated panel's ratings.

`build.build` makes a training set, `contrasts.build` sets of right and wrong edits.
"""
