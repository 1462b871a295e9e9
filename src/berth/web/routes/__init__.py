"""The routes under `/api/v1`, a file for each thing: parse, call one function, answer."""
