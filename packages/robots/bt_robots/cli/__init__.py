"""Commands of `btr`, one module each."""
