"""How the model that comes with the package was taught: lessons of its two worlds, and tasks that it practised on."""
