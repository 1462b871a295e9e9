"""Local search over whole plans: moves, swaps, chains and groups, evaluated incrementally in compiled loops."""
