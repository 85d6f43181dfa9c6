"""Qwen2.5-Omni: where its parts lie, and its audio tower as a frozen encoder."""
