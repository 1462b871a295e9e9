"""Exact methods for graphs of a known shape: pipelines and fans, one or several that don't compete."""
