"""`btr serve lsp`: the loader's knowledge for editors, over the Language Server Protocol. `text` converts positions,
`workspace` keeps every file of a project checked, `cursor` finds the context in half-written text. Each answer
(completion, hover, …) is a module of pure functions; `server` is the wire."""
