"""Paper 003: MOPA against SBON and the optimum, in usage, messages and migrations."""
