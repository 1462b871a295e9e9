"""Paper 004: six heuristics for many applications that share operators, on random forests."""
