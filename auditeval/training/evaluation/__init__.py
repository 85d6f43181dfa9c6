"""What is logged of a validation epoch: one callback, and metrics of editors and evaluators."""
