"""Plans without a model: from a goal through what skills bring and need to a reactive tree."""
