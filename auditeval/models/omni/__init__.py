"""AuditEval-llm: a LoRA-tuned Qwen2.5-Omni that reads a pair and rates it."""
