"""Metrics as pure functions on arrays; an undefined value is typed, never NaN."""
