"""A front as data, and as a folder: a plan file for each point, all of it in one, and pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from berth.files.document import write_bytes
from berth.files.plan_file import plan_document, plan_text
from berth.model.front import Front

FRONT = "front.json"
_POINT = re.compile(r"point-\d+\.json")


def front_document(front: Front) -> dict[str, Any]:
    """A front as plain data, each point with its whole plan file."""
    return {
        "problem": front.problem,
        "objectives": list(front.objectives),
        "status": front.status,
        "reason": front.reason,
        "complete": front.complete,
        "summary": front.line,
        "seconds": front.seconds,
        "points": [
            {
                "values": dict(zip(front.objectives, point.values, strict=True)),
                "proved": point.proved,
                "knee": point.knee,
                "plan": plan_document(point.plan),
            }
            for point in front.points
        ],
    }


def save_front(front: Front, folder: Path, pictures: Mapping[str, bytes]) -> None:
    """Write a front and its pictures by name; where `front.json` is, everything else is there, too.

    Points of an older front leave the folder.

    Raises:
        BadInput: the folder can't be written to.
    """
    digits = max(2, len(str(len(front.points))))
    files: dict[str, bytes] = {
        f"point-{number:0{digits}}.json": plan_text(point.plan).encode()
        for number, point in enumerate(front.points, start=1)
    }
    files |= pictures
    whole = json.dumps(front_document(front), indent=2, allow_nan=False) + "\n"
    (folder / FRONT).unlink(missing_ok=True)
    for older in folder.iterdir():
        if _POINT.fullmatch(older.name) and older.name not in files:
            older.unlink()
    for name, content in files.items():
        write_bytes(folder / name, content)
    write_bytes(folder / FRONT, whole.encode())
