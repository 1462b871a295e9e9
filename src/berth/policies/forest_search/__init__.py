"""The search of `forest`: starts, what is aimed at, the changes that are tried, bounds, previous plans."""
