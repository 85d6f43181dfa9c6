"""Files of published models: read as data, put into modules whole, run in one thread each."""
