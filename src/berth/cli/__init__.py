"""The command: parse, call one function, print."""
