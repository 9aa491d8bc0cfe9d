"""How much of a goal a model understands, and how many goals are reached, in small trades that no model has seen."""
