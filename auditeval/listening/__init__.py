"""Listening tests: from a folder of edits to the ratings of people."""
