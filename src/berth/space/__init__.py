"""The latency space: where nodes are if distances are delays, and which of them are near a point."""
