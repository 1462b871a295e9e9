"""What a checkpoint belongs to: an application with another shape can't go on with it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from berth.files.document import write_text
from berth.model import BadInput
from berth.runtime.application import Application
from berth.runtime.placement import Placement

FILE = "run.json"


@dataclass(frozen=True)
class RunState:
    """The parts of an application that its checkpoint depends on."""

    application: str
    parallelism: dict[str, int]
    streams: list[list[str]]
    stateful: list[str]

    @classmethod
    def of(cls, application: Application, placement: Placement, stateful: Sequence[str]) -> Self:
        """Of a woven application."""
        return cls(
            application.name,
            {name: placement.parallelism(name) for name in application.operators},
            [list(ends) for ends in application.streams],
            list(stateful),
        )


def check_state(folder: Path, state: RunState, *, fresh: bool) -> None:
    """Note what a new checkpoint is for; refuse an old one that is for something else.

    Raises:
        BadInput: the checkpoint is another application's, or the application has changed too much.
    """
    file = folder / FILE
    if fresh or not file.exists():
        write_text(file, json.dumps(asdict(state), indent=2) + "\n")
        return
    before = json.loads(file.read_text())
    now = asdict(state)
    different = [name for name in now if before.get(name) != now[name]]
    if different:
        raise BadInput(
            [
                f"{folder}: its checkpoint is from a run with other {', '.join(different)}; take another "
                "folder with --out, or begin anew with --fresh"
            ]
        )
