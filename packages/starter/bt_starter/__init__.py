"""Weights alone: the starter, and the adapter of `smollm2-tuned`. Nothing here is imported; a card lies beside each."""
