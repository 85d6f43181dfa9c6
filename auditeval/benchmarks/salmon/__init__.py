"""SALMon: which of two clips is more likely, the one that stays as it began or the other."""
