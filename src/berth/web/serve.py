"""Running the service until somebody stops it."""

from __future__ import annotations

import asyncio
import asyncio.constants
import logging
import os
import socket
import ssl
import stat
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from berth.files.document import held
from berth.model import BadInput
from berth.web.app import create_app
from berth.web.connections import HEAD_SECONDS, Connection
from berth.web.people import TOKENS, private_folder, tokens_of
from berth.web.security import Settings

SHORTEST_TOKEN = 16
LAST_SECONDS = 5
"""For requests that are under way when the service ends."""


def run_until_stopped(settings: Settings, tell: Callable[[str], None], *, open_page: bool = False) -> None:
    """Serve a workspace until a signal ends it.

    Raises:
        BadInput: the workspace, the address, the tokens or the certificate won't do.
    """
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    workspace = settings.workspace
    if settings.token is None:
        _check_somebody_may_come(workspace)
    if settings.tls is not None:
        check_certificate(*settings.tls)
    inner = private_folder(workspace)
    alone = held(inner, "lock", f"--workspace {workspace}", "another berth serve works on it")
    with alone, _listening(settings.host, settings.port) as listening:
        app = create_app(settings)
        name = f"[{settings.host}]" if ":" in settings.host else settings.host
        scheme = "http" if settings.tls is None else "https"
        address = f"{scheme}://{name}:{listening.getsockname()[1]}/"
        tell(f"berth is at {address} (Ctrl-C ends it)")
        if settings.tls is None and not settings.only_here:
            tell("! tokens and files go over the network as they are: --tls-cert and --tls-key encrypt them")
        if open_page:
            webbrowser.open(address)
        certificate, key = settings.tls or (None, None)
        # for whoever begins a handshake and goes no further; uvicorn has no setting for it
        setattr(asyncio.constants, "SSL_HANDSHAKE_TIMEOUT", HEAD_SECONDS)  # noqa: B010
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                log_level="warning",
                access_log=False,
                lifespan="on",
                server_header=False,
                proxy_headers=False,
                http=Connection.bounded(settings.most_connections),
                timeout_keep_alive=30,
                timeout_graceful_shutdown=LAST_SECONDS,
                h11_max_incomplete_event_size=64 * 1024,
                ssl_certfile=certificate,
                ssl_keyfile=key,
            )
        )
        # Ctrl-C is how a service ends: uvicorn raises it again when everything is done
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listening])


def _check_somebody_may_come(workspace: Path) -> None:
    """Where tokens were given and all are revoked, the service doesn't open itself to everybody again."""
    file = workspace / ".berth" / TOKENS
    if not tokens_of(workspace) and file.exists():
        ways = f"berth serve token add NAME --role admin; or remove {file} to ask for none"
        raise BadInput([f"--workspace {workspace}: every token is revoked, so nobody could come in ({ways})"])


def check_certificate(certificate: Path, key: Path) -> None:
    """See whether a certificate and its key can be used.

    Raises:
        BadInput: one can't be read, is something else, or they don't belong together.
    """
    for option, file in (("--tls-cert", certificate), ("--tls-key", key)):
        try:
            with file.open("rb"):
                mode = file.stat().st_mode
        except OSError as error:
            raise BadInput([f"{option} {file}: {_reason(error)}"]) from None
        if option == "--tls-key" and mode & 0o007:
            raise BadInput([f"{option} {file}: everybody may read it; chmod 600 {file}"])
    locked = False

    def no_password() -> str:
        # else it would be asked for on the terminal
        nonlocal locked
        locked = True
        return ""

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password=no_password)
    except ssl.SSLError as error:
        words = f"with --tls-cert {certificate}: no certificate and key in PEM"
        if locked:
            words = "has a password; take it off (openssl pkey -in KEY -out KEY.plain)"
        elif error.reason == "KEY_VALUES_MISMATCH":
            words = f"is not the key of {certificate}"
        raise BadInput([f"--tls-key {key}: {words}"]) from None


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
