"""Running the service until somebody stops it."""

from __future__ import annotations

import logging
import os
import socket
import stat
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from berth.files.document import held
from berth.model import BadInput
from berth.web.app import create_app
from berth.web.security import Settings

SHORTEST_TOKEN = 16
LAST_SECONDS = 5
"""For requests that are under way when the service ends."""


def serve(settings: Settings, tell: Callable[[str], None], *, open_page: bool = False) -> None:
    """Serve a workspace until a signal ends it.

    Raises:
        BadInput: the workspace, the address or the token won't do.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    workspace = settings.workspace
    if not workspace.is_dir():
        raise BadInput([f"--workspace {workspace}: no such folder"])
    alone = held(workspace / ".berth", "lock", f"--workspace {workspace}", "another berth serve works on it")
    with alone, _listening(settings.host, settings.port) as listening:
        app = create_app(settings)
        name = f"[{settings.host}]" if ":" in settings.host else settings.host
        address = f"http://{name}:{listening.getsockname()[1]}/"
        tell(address)
        if open_page:
            webbrowser.open(address)
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                lifespan="on",
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=30,
                timeout_graceful_shutdown=LAST_SECONDS,
                h11_max_incomplete_event_size=64 * 1024,
            )
        )
        # Ctrl-C is how a service ends: uvicorn raises it again when everything is done
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def read_token(file: Path) -> str:
    """The token in a file that only its owner may read.

    Raises:
        BadInput: it can't be read, is open to others, or is too short.
    """
    try:
        mode = file.stat().st_mode
        token = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "no text"
        raise BadInput([f"--token-file {file}: {(reason or str(error)).lower()}"]) from None
    if stat.S_ISREG(mode) and mode & 0o077:
        raise BadInput([f"--token-file {file}: others may read it; chmod 600 {file}"])
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        line = f"at least {SHORTEST_TOKEN} letters, digits or signs are needed, in one word"
        raise BadInput([f"--token-file {file}: {line}"])
    return token


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens; a port of 0 is any that is free."""
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(kind, socket.SOCK_STREAM)
    except (OSError, UnicodeError, OverflowError) as error:
        raise BadInput([f"--host {host}: {_reason(error)}"]) from None
    with listening:
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(socket.SOMAXCONN)
        except (OSError, OverflowError) as error:
            reason = f"{_reason(error)} on {host}"
            raise BadInput([f"--port {port}: {reason}; try another, or 0 for any"]) from None
        os.set_inheritable(listening.fileno(), False)
        yield listening


def _reason(error: Exception) -> str:
    return str(error.strerror if isinstance(error, OSError) and error.strerror else error).lower()
