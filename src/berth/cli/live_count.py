"""Something that counts, shown while a block runs: live on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.table import Table

from berth.cli.output import err

POLL_SECONDS = 0.2


class Board(Protocol):
    """What is shown."""

    def __rich__(self) -> Table: ...

    def watch(self, done: threading.Event) -> None:
        """Print lines until done."""


@contextmanager
def shown(board: Board) -> Iterator[None]:
    """Show it on standard error while the block runs."""
    if err.is_terminal:
        from rich.live import Live

        with Live(board, console=err, transient=True, refresh_per_second=1 / POLL_SECONDS):
            yield
        return
    done = threading.Event()
    watcher = threading.Thread(target=board.watch, args=(done,), name="berth progress", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
