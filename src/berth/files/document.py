"""Reading files into plain data; writing them whole or not at all, and by one run at a time."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from berth.disk import private_folder, replace_file
from berth.files.kinds import folder_instead
from berth.files.mistakes import as_yaml, located, mistakes_from
from berth.files.yaml12 import DEEPEST, LARGEST, parse_yaml, yaml_text
from berth.model import BadInput
from berth.model.errors import shortened

LARGEST_BYTES = LARGEST
_TOO_DEEP = f"nested more than {DEEPEST} deep"
_MOST_INDENTED = 100_000
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")


def read_document(path: str | os.PathLike[str]) -> Any:
    """The data in a YAML or JSON file.

    Raises:
        BadInput: there is no such file, it is too large, or it is neither YAML nor JSON.
    """
    content = read_bytes(path)
    with mistakes_in(path, content):
        return document_from(content, path)


def document_from(content: bytes, path: str | os.PathLike[str], largest: int = LARGEST_BYTES) -> Any:
    """The data in the content of a YAML or JSON file, wherever it was read.

    Args:
        content: what is in the file.
        path: its name may say which of them it is.
        largest: characters that it may have when all aliases are written out.

    Raises:
        BadInput: it is neither YAML nor JSON; the line says where, but not in which file.
    """
    text = _text(content)
    suffix = Path(path).suffix.lower()
    looks_like_json = suffix == ".json" or (
        suffix not in (".yaml", ".yml") and text.lstrip()[:1] in ("{", "[")
    )
    return _parse_json(text) if looks_like_json else parse_yaml(text, largest)


@contextmanager
def mistakes_in(path: str | os.PathLike[str], content: bytes | None = None) -> Iterator[None]:
    """Put the file's name, and the line of the field, before every mistake that is found within.

    Args:
        path: the file.
        content: what is in it; None: it is read again if there is a mistake.
    """
    try:
        yield
    except BadInput as error:
        text = _again(path) if content is None else content
        found = located(mistakes_from(error), text.decode("utf-8-sig", "replace"))
        raise type(error)(
            [each.in_file(shown_name(path)) for each in found[: len(error.told)]], error.more
        ) from None


def _again(path: str | os.PathLike[str]) -> bytes:
    if is_standard(path):
        return b"" if _already_read is None else _already_read[1]
    try:
        return read_bytes(path)
    except BadInput:  # it is gone: then nobody can look for a line in it either
        return b""


def shown_name(path: str | os.PathLike[str]) -> str:
    """What messages call a file."""
    return "standard input" if is_standard(path) else str(Path(path))


def is_standard(path: str | os.PathLike[str]) -> bool:
    """Whether a path means standard input, or output: `-`."""
    return os.fspath(path) == "-"


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """A file's content; `-` is standard input.

    Raises:
        BadInput: there is no such file, it is too large, or it is standard input for the second time.
    """
    name = shown_name(path)
    try:
        # Pipes and devices have no size to ask for: read no more than is allowed, and one byte.
        if is_standard(path):
            content = _standard_input()
        else:
            with Path(path).open("rb") as stream:
                content = stream.read(LARGEST_BYTES + 1)
    except IsADirectoryError:
        raise folder_instead(Path(path)) from None
    except OSError as error:
        raise BadInput([f"{name}: {(error.strerror or str(error)).lower()}"]) from None
    if len(content) > LARGEST_BYTES:
        raise BadInput(
            [
                f"{name}: more than {LARGEST_BYTES // 2**20} MiB; "
                "give delays as coordinates or links instead of matrices"
            ]
        )
    return content


_already_read: tuple[object, bytes] | None = None
"""Standard input and what was in it: read once, looked at again for the line of a mistake."""


def _standard_input() -> bytes:
    global _already_read
    if sys.stdin is None:
        raise OSError("it is closed")
    if _already_read is not None and _already_read[0] is sys.stdin:
        raise OSError("it has been read already; only one file can be -")
    _already_read = sys.stdin, sys.stdin.buffer.read(LARGEST_BYTES + 1)
    return _already_read[1]


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput([f"not UTF-8 text (byte {error.start})"]) from None


def _parse_json(text: str) -> Any:
    try:
        data = json.loads(text, object_pairs_hook=_without_doubles)
        _check_depth(data)
        if _HALF_CHARACTER.search(text):
            json.dumps(data, ensure_ascii=False).encode()
        return data
    except BadInput:
        # A key is there twice. Where, only the reader of YAML knows, which JSON is as good as.
        parse_yaml(as_yaml(text))
        raise
    except UnicodeEncodeError:
        raise BadInput(["not valid JSON: half a character (a lone surrogate such as \\ud800)"]) from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BadInput([f"{where}: not valid JSON: {error.msg}"]) from None
    except RecursionError:
        raise BadInput([_TOO_DEEP]) from None
    except ValueError:
        # Python refuses to convert whole numbers of thousands of digits.
        raise BadInput(["a whole number has thousands of digits"]) from None


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise BadInput([f"key {shortened(twice)!r} is there twice"])
    return mapping


def _check_depth(data: Any) -> None:
    """Refuse what is nested more deeply than YAML may be: whoever walks through it may do so recursively."""
    level, depth = [data], 0
    while level := [
        part
        for value in level
        if isinstance(value, dict | list)
        for part in (value.values() if isinstance(value, dict) else value)
        if isinstance(part, dict | list)
    ]:
        depth += 1
        if depth >= DEEPEST:
            raise BadInput([_TOO_DEEP])


def check_writable(path: str | os.PathLike[str]) -> None:
    """Fail early: a result that takes long to make should not be lost for want of a folder.

    Raises:
        BadInput: there is no such folder, or it can't be written to.
    """
    if is_standard(path):
        return
    file = Path(path)
    if file.is_dir():
        raise BadInput([f"{file}: can't be written: is a directory"])
    if not file.parent.is_dir():
        raise BadInput([f"{file}: can't be written: no folder {str(file.parent)!r}"])
    if not os.access(file.parent, os.W_OK):
        raise BadInput([f"{file}: can't be written: permission denied"])


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file aside and put it in place at once: readers see the old or the new, never half.

    `-` is standard output.
    """
    if is_standard(path):
        sys.stdout.write(text)
    else:
        write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """As `write_text`, for binary content, and files only.

    Raises:
        NotWritten: the folder is not there or can't be written to, or there is no room left.
    """
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            file.write_bytes(content)  # a pipe or a device: there is nothing to put in place
            return
        file = file.resolve()  # a link stays, what it leads to is replaced
        replace_file(file, content)
    except OSError as error:
        refused = NotWritten(f"{file}: can't be written: {(error.strerror or str(error)).lower()}")
        refused.number = error.errno
        raise refused from None


class NotWritten(BadInput):
    """A file that can't be written."""

    number: int | None = None
    """The number of the system's error."""


def document_text(document: dict[str, Any], path: str | os.PathLike[str]) -> str:
    """A document as the content of a file: YAML where its name ends so, or else JSON."""
    if Path(path).suffix.lower() in (".yaml", ".yml"):
        return yaml_text(document)
    compact = json.dumps(document, allow_nan=False)
    if len(compact) <= _MOST_INDENTED:
        compact = json.dumps(document, indent=2, allow_nan=False)
    return compact + "\n"


@contextmanager
def held(
    folder: Path,
    lock_file: str = ".lock",
    name: str = "",
    busy: str = "another run is writing there; wait for it or take another folder",
    *,
    private: bool = False,
) -> Iterator[None]:
    """Hold a folder, which is made if it is not there; the lock ends with the process, however that ends.

    Args:
        folder: the folder.
        lock_file: what is locked in it.
        name: what messages call the folder; the folder itself if empty.
        busy: what they say if somebody else holds it.
        private: whether nobody else can look into a folder that is made.

    Raises:
        BadInput: another run holds it, or it can't be written to.
    """
    # it brings asyncio along: only who writes into folders pays for it
    from filelock import FileLock, Timeout

    lock = FileLock(folder / lock_file, blocking=False, thread_local=False)
    name = name or str(folder)
    try:
        if private:
            private_folder(folder)
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise BadInput([f"{name}: {busy}"]) from None
    except OSError as error:
        raise BadInput([f"{name}: can't be written: {(error.strerror or str(error)).lower()}"]) from None
    try:
        yield
    finally:
        lock.release()
