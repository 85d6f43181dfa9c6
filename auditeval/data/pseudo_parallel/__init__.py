"""Pseudo-parallel editing data: clips mixed by rule into pairs [arXiv:2508.11966, 4.3, Appendix B].

`clips` reads labelled recordings, `plan` decides every mix, `pairs` words the six edits of a mix,
`build` writes it all, and `text_to_audio` makes clips where there are no recordings.
"""
