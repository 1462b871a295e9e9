"""Spark: raw telemetry updates a problem with measured values, and many problems are solved side by side."""
