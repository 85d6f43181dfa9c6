"""CLAP: joint embeddings of sound and captions, from every checkpoint format in use."""
