"""Pictures of problems and plans, for terminals (`terminal.render`) and as files (`picture.draw`).

The two are imported on their own, so that a command that prints text doesn't load matplotlib.
"""
