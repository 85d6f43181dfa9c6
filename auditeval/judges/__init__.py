"""Audio language models that answer questions on clips: local, over HTTP, or replayed."""
