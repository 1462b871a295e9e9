"""Local search over whole plans: moves, swaps, chains and groups, evaluated incrementally, compiled."""
