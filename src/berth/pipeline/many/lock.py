"""One run at a time on a folder, which leaves nothing but plans there."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from berth.files.lock import held

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
    with held(folder):
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
