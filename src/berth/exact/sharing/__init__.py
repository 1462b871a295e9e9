"""Exact solving with sharing (paper 004): what is computed once, who takes it, who serves which object."""
