"""Spark: from raw telemetry to a problem that is true, and many problems solved side by side."""
