"""What a service allows, and to whom: checked before anything else looks at a request."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import re
import socket
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from berth.web.answers import answer

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def usual_workers() -> int:
    """Solves that run at once: one processor stays for the page."""
    return max(1, (os.cpu_count() or 2) - 1)


@dataclass(frozen=True)
class Settings:
    """Where a service works and what it allows; all limits are there to be hit by mistakes and bad will."""

    workspace: Path
    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None
    allowed_hosts: frozenset[str] = frozenset()
    """Further names under which it may be asked."""
    workers: int = field(default_factory=usual_workers)
    most_waiting: int = 50
    longest_solve_s: float = 3600.0
    memory_bytes: int = 4 * 2**30
    """For one solve."""
    upload_bytes: int = 16 * 2**20
    most_streams: int = 200
    """Connections for server-sent events at once."""
    jobs_kept: int = 500

    @property
    def only_here(self) -> bool:
        """Whether nobody outside of this machine can reach it."""
        return is_loopback(self.host)

    def answers_to(self, name: str) -> bool:
        """Whether a request for that host is meant for this service.

        A name that somebody else's page made lead here (DNS rebinding) is none of ours. An address can't be
        made to lead anywhere; where only this machine may ask, it must be one of this machine's own.
        """
        name = name.lower().rstrip(".")
        if name in LOOPBACK_NAMES or name == self.host.lower() or name in self.allowed_hosts:
            return True
        if self.only_here:
            return is_loopback(name)
        return _is_address(name) or name == socket.gethostname().lower()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


COOKIE = "berth-session"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
OPEN_PATHS = re.compile(r"/login|/static/icon\.svg|/static/styles/\w+\.css")
"""What can be had without the token: the form that asks for it, as it should look."""
LONGEST_ADDRESS = 4096
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'self'"
)
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"
"""For a report out of the workspace: it is shown, and can do nothing."""
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-cache",
}


class Gate:
    """The outermost layer: host, token, origin, size; and headers that make browsers careful."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def careful_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refused = self._refused(scope)
        if refused is not None:
            status, words, more = refused
            await answer({"error": words, "mistakes": []}, status, more)(scope, receive, careful_send)
            return
        await self._app(scope, self._limited(receive), careful_send)

    def _refused(self, scope: Scope) -> tuple[int, str, dict[str, str]] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._settings.answers_to(host_name(host)):
            words = "the Host of this request is none of this service's (berth serve --allow-host NAME)"
            return 421, words, {}
        if len(scope.get("raw_path") or b"") > LONGEST_ADDRESS:
            return 414, "the address is too long", {}
        if not self._is_known(scope, headers):
            if scope["path"] == "/" and "text/html" in headers.get("accept", ""):
                return 303, "log in first", {"Location": "/login"}
            return 401, "the token is missing or wrong", {"WWW-Authenticate": "Bearer"}
        if scope["method"] not in SAFE_METHODS and not _same_origin(headers, host):
            return 403, "another page's request is not taken", {}
        size = headers.get("content-length", "0")
        if not size.isdigit() or int(size) > self._settings.upload_bytes:
            return 413, f"the body has more than {self._settings.upload_bytes} bytes", {}
        return None

    def _is_known(self, scope: Scope, headers: Headers) -> bool:
        token = self._settings.token
        if token is None or OPEN_PATHS.fullmatch(scope["path"]):
            return True
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and matches(given.strip(), token):
            return True
        return matches(_cookie(headers.get("cookie", "")), session_of(token))

    def _limited(self, receive: Receive) -> Receive:
        """The body, as long as it isn't too large, whatever its header says."""
        left = self._settings.upload_bytes

        async def limited() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise HTTPException(413)
            return message

        return limited


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def matches(given: str, wanted: str) -> bool:
    """Whether a secret is right; how long this takes says nothing about it."""
    return hmac.compare_digest(
        hashlib.sha256(given.encode("utf-8", "surrogateescape")).digest(),
        hashlib.sha256(wanted.encode("utf-8", "surrogateescape")).digest(),
    )


def session_of(token: str) -> str:
    """What the page's cookie holds instead of the token itself."""
    return hmac.new(token.encode(), b"berth page", hashlib.sha256).hexdigest()


def author_of(headers: Headers, address: str) -> str:
    """Who wants a change, by their own word, or else from where."""
    given = unquote(headers.get("x-berth-author", ""), errors="replace")
    name = "".join(sign for sign in given if sign.isprintable()).strip()[:80]
    return name or address


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return "" if found is None else found.value


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether a request comes from our own page, or from no page at all."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or urlsplit(origin).netloc.lower() == host.lower()
