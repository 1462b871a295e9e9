"""Who may ask, from where, and how much: before anything else looks at a request."""

from __future__ import annotations

import hashlib
import hmac
import re
from http.cookies import CookieError, SimpleCookie
from urllib.parse import unquote, urlsplit

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from berth.web.answers import answer
from berth.web.settings import Settings

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
