"""One run at a time writes into a folder."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from berth.model import BadInput

LOCK_FILE = ".lock"


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made if it is not there; the lock ends with the process, however that ends.

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
        yield
