"""For authors: the editor, the language server, doors for assistants, drafts from a sentence, and proofs."""
