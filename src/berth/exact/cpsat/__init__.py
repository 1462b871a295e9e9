"""The general exact method: CP-SAT with conditional delays and arrival times."""
