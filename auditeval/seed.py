"""Where every random choice starts from, unless it is told otherwise."""

SEED = 1984
