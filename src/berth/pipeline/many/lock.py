"""One run at a time on a folder, which leaves nothing but plans there."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from berth.model import BadInput

LOCK_FILE = ".lock"
QUEUE = ".queue"
PLANS_FOLDER = "plans"
UNFINISHED = "_temporary"
"""Where Spark writes what a task has not finished; readers leave names with an underscore alone."""
ASIDE = "_aside-"
"""How files that will replace others begin."""


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder, which is made if it is not there; the lock ends with the process, however that ends.

    Raises:
        BadInput: another run holds it, or it can't be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / LOCK_FILE).open("w")
    except OSError as error:
        raise BadInput([f"{folder}: can't be written: {(error.strerror or str(error)).lower()}"]) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BadInput(
                [f"{folder}: another run is writing there; wait for it or take another folder"]
            ) from None
        _clean(folder)
        try:
            yield
        finally:
            _clean(folder)


def _clean(folder: Path) -> None:
    """Remove what this run, or one that was killed, left unfinished."""
    plans = folder / PLANS_FOLDER
    for leftover in (folder / QUEUE, plans / UNFINISHED):
        shutil.rmtree(leftover, ignore_errors=True)
    for aside in plans.glob(f"{ASIDE}*"):
        aside.unlink()
