"""Training: the only home of Lightning and wandb."""
