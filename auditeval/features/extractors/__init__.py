"""One extractor a module, which has its name: what a configuration or checkpoint may call."""
