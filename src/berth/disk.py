"""Files and folders that last or vanish as they should.

Files are replaced whole, and are on the disk before they have their name. Folders of runs and clusters are
their owner's alone. Temporary folders go with their process, or at the next start if that was killed.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_HOLD = ".berth-temporary"
"""The file in a temporary folder that its owner has locked: without one, a folder is none of ours."""
_LONGEST_STEM = 50
_LEFTOVER = re.compile(r"\..*\.[0-9a-f]{8}\.berth-new", re.DOTALL)
"""The name of a file that is written before it replaces another one."""


def replace_file(file: Path, content: bytes) -> None:
    """Put a file in place at once, for good: readers see the old one or the new one, also after a power cut.

    A new file gets the mode that the umask leaves, one that is replaced keeps its own.
    """
    try:
        before = stat.S_IMODE(file.stat().st_mode) & 0o777
    except FileNotFoundError:
        before = None
    aside, descriptor = _held_file(file, 0o666 if before is None else 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if before is not None:
                os.fchmod(stream.fileno(), before)
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
            os.replace(aside, file)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    sync(file.parent)


def _held_file(file: Path, mode: int) -> tuple[Path, int]:
    """A new file beside one, locked: nobody takes it for what a killed process has left."""
    while True:
        aside = file.with_name(f".{file.name[:_LONGEST_STEM]}.{secrets.token_hex(4)}.berth-new")
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):  # where files can't be locked, none is taken away either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return aside, descriptor
        # somebody who clears up was quicker than the lock
        os.close(descriptor)


def remove_leftovers(root: Path) -> None:
    """Remove what killed processes have left of files that should have replaced others, in all folders."""
    for folder, _, names in os.walk(root):
        for name in filter(_LEFTOVER.fullmatch, names):
            with suppress(OSError):  # somebody else's, or gone meanwhile
                _remove_leftover(Path(folder, name))


def _remove_leftover(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.fstat(descriptor).st_uid == os.geteuid() and _locked(descriptor):
            file.unlink()
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Make all files below a folder last before it gets its name."""
    for place, _, files in os.walk(folder):
        for name in files:
            sync(Path(place, name))
        sync(Path(place))


def sync(path: Path) -> None:
    """Make a file's content, or the names in a folder, last."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def private_folder(folder: Path) -> Path:
    """Make a folder that nobody else can look into; one that is there is left as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    return folder


@contextmanager
def temporary_folder(prefix: str = "berth-", beside: Path | None = None) -> Iterator[Path]:
    """A private folder for the time of a `with` block; those of processes that were killed go first.

    Args:
        prefix: how its name begins.
        beside: where it is; None: where temporary files are.
    """
    parent = Path(tempfile.gettempdir() if beside is None else beside).absolute()
    _remove_abandoned(parent, prefix)
    folder, hold = _held_folder(parent, prefix)
    try:
        yield folder
    finally:
        with suppress(FileNotFoundError):
            _remove(folder)
        os.close(hold)


def _held_folder(parent: Path, prefix: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        hold = os.open(folder / _HOLD, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        if _locked(hold) and os.fstat(hold).st_nlink:
            return folder, hold
        # somebody who clears up was quicker than the lock, and takes the folder away
        os.close(hold)


def _remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the folders of this kind, and of this user, that no process holds."""
    kind = re.compile(re.escape(prefix) + r"[a-z0-9_]{8}")
    for name in os.listdir(parent):
        if kind.fullmatch(name):
            # others may clear up at the same time, and of other users' folders nothing can be opened
            with suppress(OSError):
                _remove_if_abandoned(parent / name)


def _remove_if_abandoned(folder: Path) -> None:
    hold = os.open(folder / _HOLD, os.O_RDWR | os.O_NOFOLLOW)
    try:
        ours = os.fstat(hold).st_uid == os.geteuid() == folder.lstat().st_uid
        if ours and _locked(hold):
            _remove(folder)
    finally:
        os.close(hold)


def _remove(folder: Path) -> None:
    """Remove a folder, what marks it last: if this is interrupted, somebody else can go on with it.

    What is renamed or linked in the meantime leads nowhere else: everything goes by way of the open folder.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for name in os.listdir(descriptor):
            if name == _HOLD:
                continue
            if stat.S_ISDIR(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
                shutil.rmtree(name, ignore_errors=True, dir_fd=descriptor)
            else:
                os.unlink(name, dir_fd=descriptor)
        os.unlink(_HOLD, dir_fd=descriptor)
    finally:
        os.close(descriptor)
    folder.rmdir()


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
