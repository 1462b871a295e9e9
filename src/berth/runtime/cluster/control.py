"""How a running keeper is asked for something: by a socket in the cluster's folder."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from berth.processes import Channel

SOCKET = "control"
REQUEST_SECONDS = 2.0
ANSWER_SECONDS = 30.0


def listen(folder: Path) -> socket.socket:
    """The keeper's end."""
    listener = socket.socket(socket.AF_UNIX)
    with _short(folder) as path:
        listener.bind(path)
    listener.listen()
    return listener


def ask_keeper(folder: Path, request: dict[str, Any]) -> dict[str, Any]:
    """Send a request and wait for its answer.

    Raises:
        OSError: no keeper answers.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(ANSWER_SECONDS)
        with _short(folder) as path:
            connection.connect(path)
        channel = Channel(connection)
        channel.send(request)
        answer = channel.receive(ANSWER_SECONDS)
    if answer is None:
        raise ConnectionResetError("the keeper hung up")
    return answer


@contextmanager
def _short(folder: Path) -> Iterator[str]:
    """The socket's path by way of the open folder: addresses of sockets have 107 characters at most."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)
