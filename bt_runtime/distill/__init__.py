"""A small local model from experiences: documents, a tokenizer, training, a GGUF file."""
