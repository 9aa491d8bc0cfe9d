"""VDA 5050 (version 2) on a fleet: a master control's orders become tasks, and each robot's state goes back."""
