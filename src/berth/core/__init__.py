"""The compiled part: the loops that have to be fast, in C++ (nanobind), one file for each subject."""
