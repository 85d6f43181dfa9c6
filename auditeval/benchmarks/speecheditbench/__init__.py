"""SpeechEditBench (Zhang et al. 2026, arXiv 2606.01804): eight tasks of edited speech."""
