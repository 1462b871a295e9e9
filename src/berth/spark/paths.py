"""Paths of this machine's files as Spark wants them."""

from __future__ import annotations

import os

_GLOB_SIGNS = frozenset("\\[]{}*?")


def written_path(path: str | os.PathLike[str]) -> str:
    """A path to write to: of this machine's files, whatever file system is the cluster's own."""
    return f"file:{path}"


def spark_path(path: str | os.PathLike[str]) -> str:
    """A path to read from: nothing in it is a pattern. What has a scheme already is taken as it is."""
    text = os.fspath(path)
    if "://" in text:
        return text
    return written_path("".join(f"\\{sign}" if sign in _GLOB_SIGNS else sign for sign in text))
