"""Where pairs come from: synthesised sounds, mixing, simulated edits, other layouts, splits."""
