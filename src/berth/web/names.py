"""Ids of files in addresses, and names that new files may have."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath

from berth.model import BadInput

DEEPEST = 6
"""Folders in folders that are looked at."""
LONGEST = 200
PROBLEM_ENDS = (".yaml", ".yml", ".json")
PLAN_ENDS = (".json",)
ID_PATTERN = r"^[A-Za-z0-9._~=-]+$"
_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_ESCAPED = re.compile(rb"=([0-9A-F]{2})")


def id_of(path: PurePosixPath) -> str:
    """A path in the workspace as an id: `/` is `~`, bytes that are not plain are `=XX`."""
    return "".join(
        chr(byte) if byte in _PLAIN else "~" if byte == 0x2F else f"={byte:02X}"
        for byte in os.fsencode(str(path))
    )


def path_of(identity: str) -> PurePosixPath | None:
    """The path that an id means; None where it is no id, or leads out or to something hidden."""
    if not re.fullmatch(ID_PATTERN, identity):
        return None
    raw = _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), identity.encode().replace(b"~", b"/"))
    if b"\0" in raw or len(raw) > 4 * LONGEST:
        return None
    path = PurePosixPath(os.fsdecode(raw))
    # what says the same in two ways would be two things to whoever compares ids
    return path if is_visible(path) and id_of(path) == identity else None


def is_visible(path: PurePosixPath) -> bool:
    """Whether a path stays inside and names nothing hidden."""
    parts = path.parts
    return 0 < len(parts) <= DEEPEST + 1 and not path.is_absolute() and not any(p[:1] == "." for p in parts)


def new_name(name: str, ends: tuple[str, ...]) -> PurePosixPath:
    """A name for a new file.

    Raises:
        BadInput: it could not be a file of the workspace, or not of that kind.
    """
    path = PurePosixPath(name)
    wanted = " or ".join(ends)
    if not name or len(name) > LONGEST:
        raise BadInput([f"name: {len(name)} characters; 1 to {LONGEST} are possible"])
    if not name.isprintable() or "\\" in name:
        raise BadInput(["name: has signs that no file name should have"])
    if path.is_absolute() or ".." in path.parts or str(path) != name:
        raise BadInput([f"name: {name!r} is no path inside the workspace"])
    if not is_visible(path):
        raise BadInput([f"name: {name!r} is hidden, or more than {DEEPEST} folders deep"])
    if any(len(part.encode()) > 250 for part in path.parts):
        raise BadInput(["name: a part of it is longer than file names can be"])
    if path.suffix.lower() not in ends or not path.stem:
        raise BadInput([f"name: {name!r} does not end in {wanted}"])
    return path


def plain_name(text: str) -> str:
    """A text as the beginning of a file name."""
    words = re.sub(r"[^\w.-]+", "-", text).strip("-.")[:80]
    return words or "unnamed"
