"""`btr lsp`: what the loader knows, told to an editor over the Language Server Protocol.

`text` counts places as editors do, `workspace` keeps every file of a project checked, `cursor` tells from half-written
text where somebody is, and each answer (completion, hover, …) is a module of pure functions; `server` is the wire.
"""
