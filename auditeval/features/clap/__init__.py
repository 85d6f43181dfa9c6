"""CLAP: joint embeddings of sound and captions, from every checkpoint format in use."""

SUPPORTED = (
    "supported are LAION CLAP (HTSAT with RoBERTa), Microsoft CLAP 2022 and 2023, and directories "
    "in the format of transformers"
)
