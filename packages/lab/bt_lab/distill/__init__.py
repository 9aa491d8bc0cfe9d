"""Trains a small model from documents: tokenizer, network, training, and the GGUF file that a run loads."""
