"""Bounds by a linear relaxation that knows which blocks can share a node."""
