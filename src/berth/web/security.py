"""What a service allows, and to whom: checked before anything else looks at a request."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import os
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from berth.web.access import Noted
from berth.web.answers import Refused, answer
from berth.web.attempts import Attempts
from berth.web.audit import Audit, things
from berth.web.people import OWNER, Caller, People, Sessions, Token
from berth.web.room import COME_BACK, NO_ROOM, LettingGo, Room

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
    """The one of `--token-file`; others may have tokens of their own."""
    tls: tuple[Path, Path] | None = None
    """The certificate and its key."""
    session_s: float = 12 * 3600.0
    """How long who signs in on the page is known."""
    proxies: frozenset[str] = frozenset()
    """Addresses of proxies, whose word counts on where a request comes from."""
    allowed_hosts: frozenset[str] = frozenset()
    """Further names under which it may be asked."""
    workers: int = field(default_factory=usual_workers)
    most_waiting: int = 50
    longest_solve_s: float = 3600.0
    memory_bytes: int = 4 * 2**30
    """For one solve."""
    processor_s: float = 4 * 3600.0
    """For one solve, summed over processors."""
    jobs_per_person: int = 20
    """That wait or run, where people are told apart by tokens."""
    workspace_bytes: int = 20 * 2**30
    workspace_files: int = 50_000
    upload_bytes: int = 16 * 2**20
    under_way_bytes: int = 512 * 2**20
    """Of large bodies and answers that slow clients send or take, all together."""
    most_connections: int = 500
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
LONGEST_COOKIES = 16 * 1024
"""Together: browsers send those of every service on a machine, whatever its port."""
_SESSION = re.compile(r"[\w-]{43}", re.ASCII)
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
OPEN_PATHS = re.compile(r"/log(?:in|out)|/static/icon\.svg|/static/styles/\w+\.css")
"""What can be had without a token: the form that asks for it, as it should look, and the way out."""
LONGEST_ADDRESS = 4096
LARGEST_FORM = 10_000
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


@dataclass(frozen=True)
class Admission:
    """Somebody who was let in, and whether that still holds."""

    caller: Caller
    still: Callable[[], bool]


class Entrance:
    """Who comes in with what: tokens, sessions, and how often an address was wrong."""

    def __init__(self, settings: Settings) -> None:
        self.people = People(settings.workspace.resolve() / ".berth", settings.token)
        self.sessions = Sessions(self.people, settings.session_s)
        self.attempts = Attempts()

    def admit(self, headers: Headers, address: str) -> Admission:
        """Whoever asks.

        Raises:
            Refused: nobody whom we know (401), or too often nobody (429).
        """
        if self.people.everybody:
            return Admission(Caller(OWNER, "admin"), lambda: self.people.everybody)
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and given.strip():
            token = self.checked(given.strip(), address)
            return Admission(token.caller, lambda: self.people.knows(token))
        session = session_in(headers)
        # nobody guesses a session, and one that is over is no attempt: this is never slowed down
        found = self.sessions.who(session)
        if found is None:
            raise _unknown()
        return Admission(found.caller, lambda: self.sessions.who(session) is not None)

    def checked(self, secret: str, address: str) -> Token:
        """Whose token this is.

        Named tokens have 256 random bits: a right one was not guessed, however often the address was wrong,
        and is taken. What people chose themselves could be guessed, and waits.

        Raises:
            Refused: nobody's (401), or the address has to wait (429).
        """
        token = self.people.with_secret(secret)
        if token is not None and token.name != OWNER:
            return token
        wait = self.attempts.wait(address)
        if wait > 0:
            words = "too many wrong tokens came from this address; wait"
            raise Refused(429, words, headers={"Retry-After": str(math.ceil(wait))})
        if token is None:
            self.attempts.failed(address)
            raise _unknown()
        return token


def _unknown() -> Refused:
    return Refused(401, "the token is missing or wrong", headers={"WWW-Authenticate": "Bearer"})


REFUSALS = (401, 403, 421, 429)
"""What somebody is told who may not."""
STILL_SECONDS = 0.5
"""How often who has a connection open is looked at again."""


class Gate:
    """The outermost layer: host, who asks, origin, size; headers for careful browsers; the audit log."""

    def __init__(self, app: ASGIApp, settings: Settings, entrance: Entrance, audit: Audit) -> None:
        self._app = app
        self._settings = settings
        self._entrance = entrance
        self._audit = audit
        self._room = Room(settings.under_way_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["headers"] = _with_own_cookie(scope["headers"])
        # a response that began and did not end
        open_ended = False
        noted = scope["noted"] = Noted(f"{scope['method']} {scope['path']}")
        letting_go = LettingGo(send, self._room, refusable=scope["method"] in SAFE_METHODS)

        async def careful_send(message: Message) -> None:
            nonlocal open_ended
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                self._note(scope, noted, message["status"], headers.get("location", ""))
            open_ended = message["type"] == "http.response.start" or message.get("more_body", False)
            await letting_go.send(message)

        try:
            admission = self._admitted(scope, noted)
        except Refused as refused:
            response = answer(refused.document, refused.status, refused.headers)
            await response(scope, receive, careful_send)
            return
        body = _Body(receive, self._most_bytes(scope), admission, self._room)
        try:
            await self._app(scope, body.receive, careful_send)
        except Exception:
            self._note(scope, noted, 500, "")  # answered further out
            raise
        finally:
            body.let_go()
        if body.shut_out and open_ended:
            await careful_send({"type": "http.response.body", "body": b"", "more_body": False})

    def _note(self, scope: Scope, noted: Noted, status: int, location: str) -> None:
        """Write down what changes something, or is refused for who asks."""
        if not noted.changes and status not in REFUSALS:
            return
        kind, _, identity = location.removeprefix("/api/v1").rpartition("/")
        made = things(f"POST {kind}", identity) if status in (201, 202) and identity else {}
        facts = {
            "status": status,
            "address": address_of(scope, self._settings.proxies),
            **made,
            **noted.facts,
        }
        outcome = "done" if status < 400 else "refused" if status < 500 else "failed"
        self._audit.note(noted.who, noted.action, outcome, facts)

    def _admitted(self, scope: Scope, noted: Noted) -> Admission | None:
        """Who asks, now in the scope as its `caller`; None where nobody has to be known.

        Raises:
            Refused: the request is not taken.
        """
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not self._settings.answers_to(host_name(host)):
            words = "the Host of this request is none of this service's (berth serve --allow-host NAME)"
            raise Refused(421, words)
        if len(scope.get("raw_path") or b"") > LONGEST_ADDRESS:
            raise Refused(414, "the address is too long")
        admission = None
        if not OPEN_PATHS.fullmatch(scope["path"]):
            admission = self._known(scope, headers)
            scope["caller"] = admission.caller
            noted.who = admission.caller.name
            noted.facts["role"] = admission.caller.role
        if scope["method"] not in SAFE_METHODS and not _same_origin(headers, host):
            raise Refused(403, "another page's request is not taken")
        size, most = headers.get("content-length", "0"), self._most_bytes(scope)
        if not (size.isascii() and size.isdigit() and len(size) < 20) or int(size) > most:
            raise Refused(413, f"the body has more than {most} bytes")
        return admission

    def _most_bytes(self, scope: Scope) -> int:
        """What a body may have; whoever isn't known yet has only a form to send."""
        return LARGEST_FORM if OPEN_PATHS.fullmatch(scope["path"]) else self._settings.upload_bytes

    def _known(self, scope: Scope, headers: Headers) -> Admission:
        try:
            return self._entrance.admit(headers, address_of(scope, self._settings.proxies))
        except Refused as refused:
            if refused.status == 401 and scope["path"] == "/" and "text/html" in headers.get("accept", ""):
                raise Refused(303, "log in first", headers={"Location": "/login"}) from None
            raise


class _Body:
    """What comes from a client, as long as it isn't too large, and as long as who sent it may be here."""

    def __init__(self, receive: Receive, most: int, admission: Admission | None, room: Room) -> None:
        self._receive = receive
        self._room = room
        self._held = 0
        self._left = most
        self._admission = admission
        self._read = False
        self.shut_out = False
        """Whether the client was sent away in the middle of an answer."""

    async def receive(self) -> Message:
        """The next message; behind the body, that the client went or that its token was taken away."""
        if self._read and self._admission is not None:
            return await self._gone(self._admission)
        message = await self._receive()
        self._read = message["type"] == "http.request" and not message.get("more_body", False)
        size = len(message.get("body", b""))
        self._left -= size
        if self._left < 0:
            raise HTTPException(413)
        if not self._room.take(size, self._held):
            raise HTTPException(503, NO_ROOM, headers=COME_BACK)
        self._held += size
        return message

    def let_go(self) -> None:
        """The request is answered."""
        self._room.leave(self._held)
        self._held = 0

    async def _gone(self, admission: Admission) -> Message:
        waiting = asyncio.ensure_future(self._receive())
        try:
            while not (await asyncio.wait({waiting}, timeout=STILL_SECONDS))[0]:
                if not admission.still():
                    self.shut_out = True
                    return {"type": "http.disconnect"}
            return waiting.result()
        finally:
            waiting.cancel()


def address_of(scope: Scope, proxies: frozenset[str]) -> str:
    """Where a request comes from; what it says of that itself counts only if a known proxy brings it."""
    client = scope.get("client")
    address: str = client[0] if client else ""
    named = Headers(scope=scope).get("x-forwarded-for", "").split(",")
    while address in proxies and named:
        # the last one is whom the proxy saw; those before it are what that one claims
        address = named.pop().strip() or address
    return address


def is_encrypted(scope: Scope, proxies: frozenset[str]) -> bool:
    """Whether a request came by TLS: to us, or to a known proxy."""
    client = scope.get("client")
    brought = client is not None and client[0] in proxies
    return scope["scheme"] == "https" or (
        brought and Headers(scope=scope).get("x-forwarded-proto", "").strip().lower() == "https"
    )


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def author_of(caller: Caller, headers: Headers, *, everybody: bool) -> str:
    """Who wants a change: the name of the token, or their own word where there are no tokens."""
    given = unquote(headers.get("x-berth-author", ""), errors="replace") if everybody else ""
    name = "".join(sign for sign in given if sign.isprintable()).strip()[:80]
    return name or caller.name


def session_in(headers: Headers) -> str:
    """What the cookie of the page holds; empty where there is none."""
    cookies = headers.get("cookie", "")
    if len(cookies) > LONGEST_COOKIES:
        return ""
    parts = (each.strip().partition("=") for each in cookies.split(";"))
    found = {name: value for name, _, value in parts}.get(COOKIE, "")
    return found if _SESSION.fullmatch(found) else ""


def _with_own_cookie(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of a request with no cookie but ours.

    The framework reads all cookies of every request by `http.cookies`, which takes a minute for some texts.
    Anybody may send one: to the form that asks for the token, for one.
    """
    kept = list(headers)
    session = session_in(Headers(raw=kept))
    own = [(b"cookie", f"{COOKIE}={session}".encode())] if session else []
    return [(name, value) for name, value in kept if name != b"cookie"] + own


def _same_origin(headers: Headers, host: str) -> bool:
    """Whether a request comes from our own page, or from no page at all."""
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    try:
        return origin is None or urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False
