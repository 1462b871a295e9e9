"""Exact solving of goals that are sums over blocks and over pairs of blocks."""
