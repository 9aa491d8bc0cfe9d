"""From documents to a small model of one's own: tokenizer, network, training, and the GGUF file that a run loads."""
