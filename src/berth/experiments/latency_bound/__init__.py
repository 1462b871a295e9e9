"""Paper 002: ways to choose candidate hosts for a latency bound, under growing load."""
