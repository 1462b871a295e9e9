"""Paper 001: MIPS against other two-stage schemes, and its own parameters."""
