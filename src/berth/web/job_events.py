"""What happens to a job, a line each: the job's process and the service both add to it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def append_event(file: Path, event: str, data: Mapping[str, Any]) -> None:
    """Add a line; several processes may, for a line is one write."""
    line = json.dumps({"event": event, "data": data}, allow_nan=False) + "\n"
    descriptor = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def last_progress(file: Path) -> dict[str, Any] | None:
    """The newest progress in a file of events."""
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - 16_384))
            lines = stream.read().splitlines()
    except OSError:
        return None
    for line in reversed(lines):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("event") == "progress":
            data: dict[str, Any] = event["data"]
            return data
    return None
