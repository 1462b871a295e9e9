"""Tests of the drawings, on small problems that are made here."""
