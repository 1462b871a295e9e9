"""Whom a service knows: named tokens with roles, kept as hashes, and the sessions of those who signed in."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import os
import re
import secrets
import stat
import tempfile
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from berth.files.document import held
from berth.model import BadInput
from berth.model.errors import did_you_mean

Role = Literal["viewer", "planner", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each may do what those before it may."""
OWNER = "owner"
"""Who holds the token of `--token-file`, or everybody where no token is needed."""
TOKENS = "tokens.json"
TOKEN_BYTES = 32
MARK = "berth_"
"""How our tokens begin, so that people and secret scanners know one when they see it."""
LONGEST_NAME = 80
LONGEST_DAYS = 3650
_NAME = re.compile(rf"\w[\w.@+-]{{0,{LONGEST_NAME - 1}}}")
_LIFETIME = re.compile(r"(\d{1,6})([mhdw])")
_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}

log = logging.getLogger("berth.web")


@dataclass(frozen=True)
class Caller:
    """Who asks: in `scope["caller"]` of every request that is let in."""

    name: str
    role: Role

    def may(self, needed: Role) -> bool:
        """Whether the role is enough."""
        return ROLES.index(self.role) >= ROLES.index(needed)


@dataclass(frozen=True)
class Token:
    """Whose a token is and what it allows; the token itself is nowhere."""

    name: str
    role: Role
    sha256: str
    """A hash without salt and rounds is enough: tokens have 256 random bits, so there is nothing to guess."""
    created: float
    expires: float | None = None

    @property
    def caller(self) -> Caller:
        """Who comes with it."""
        return Caller(self.name, self.role)

    def expired(self, now: float) -> bool:
        """Whether its time is over."""
        return self.expires is not None and now >= self.expires


def digest_of(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


# the file of tokens


def lifetime(text: str) -> float:
    """The seconds that `30d` means.

    Raises:
        BadInput: it means none.
    """
    found = _LIFETIME.fullmatch(text)
    seconds = int(found[1]) * _UNITS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST_DAYS * _UNITS["d"]:
        line = f"{text!r} is no time such as 90m, 12h, 30d or 8w ({LONGEST_DAYS}d at most)"
        raise BadInput([f"--expires: {line}"])
    return float(seconds)


def read_tokens(file: Path) -> tuple[Token, ...]:
    """The tokens in a file that only its owner may read or write.

    Raises:
        BadInput: it can't be read, is open to others, or is no such file.
    """
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW), "rb") as stream:
            status = os.fstat(stream.fileno())
            if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
                raise BadInput([f"{file}: must be yours, and nobody else may read it; chmod 600 {file}"])
            found = json.loads(stream.read())
        return tuple(_token(each) for each in found["tokens"])
    except OSError as error:
        raise BadInput([f"{file}: can't be read: {(error.strerror or str(error)).lower()}"]) from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise BadInput([f"{file}: is no file of 'berth serve token'; remove it to begin anew"]) from None


def _token(found: dict[str, Any]) -> Token:
    token = Token(**found)
    if token.role not in ROLES or not re.fullmatch("[0-9a-f]{64}", token.sha256):
        raise ValueError(token.name)
    return token


def tokens_of(workspace: Path) -> tuple[Token, ...]:
    """The tokens of a workspace; none where none was ever added.

    Raises:
        BadInput: there is no such workspace, or its file of tokens won't do.
    """
    file = _file(workspace)
    return read_tokens(file) if os.path.lexists(file) else ()


def _file(workspace: Path) -> Path:
    if not workspace.is_dir():
        raise BadInput([f"--workspace {workspace}: no such folder"])
    return workspace / ".berth" / TOKENS


def private_folder(workspace: Path) -> Path:
    """The folder in a workspace that is the service's own, closed to others.

    Raises:
        BadInput: there is no such workspace, or it can't be written to.
    """
    folder = _file(workspace).parent
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if stat.S_IMODE(folder.stat().st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        line = f"can't be written: {(error.strerror or str(error)).lower()}"
        raise BadInput([f"--workspace {workspace}: {line}"]) from None
    return folder


def add_token(workspace: Path, name: str, role: Role, expires_in: float | None = None) -> str:
    """A new token of somebody: it is told once, and only its hash is kept.

    Raises:
        BadInput: the name is taken or no name, or the file of tokens won't do.
    """
    name = unicodedata.normalize("NFC", name)
    if not _NAME.fullmatch(name):
        signs = "letters, digits and . _ @ + - are possible, the first one a letter or digit"
        raise BadInput([f"NAME: {name!r} won't do: 1 to {LONGEST_NAME} {signs}"])
    if name.casefold() == OWNER:
        raise BadInput([f"NAME: {name!r} is whoever holds the token of --token-file; take another"])
    with _changing(workspace):
        there = tokens_of(workspace)
        if any(each.name.casefold() == name.casefold() for each in there):
            way = f"berth serve token revoke {name}"
            raise BadInput([f"NAME: {name!r} has a token already; take it away first ({way})"])
        secret = MARK + secrets.token_urlsafe(TOKEN_BYTES)
        now = time.time()
        until = None if expires_in is None else now + expires_in
        _write(workspace, (*there, Token(name, role, digest_of(secret), now, until)))
    return secret


def revoke_token(workspace: Path, name: str) -> None:
    """Take somebody's token away; a running service shuts them out at once.

    Raises:
        BadInput: nobody of that name has one, or the file of tokens won't do.
    """
    name = unicodedata.normalize("NFC", name)
    with _changing(workspace):
        there = tokens_of(workspace)
        names = [each.name for each in there]
        if name not in names:
            known = ", ".join(names) or "nobody"
            raise BadInput([f"NAME: no token {did_you_mean(name, names)}; tokens have: {known}"])
        _write(workspace, (each for each in there if each.name != name))


def _changing(workspace: Path) -> AbstractContextManager[None]:
    """One change at a time; a service that runs doesn't stand in the way."""
    busy = "another 'berth serve token' is at work; try again"
    return held(private_folder(workspace), "tokens.lock", f"--workspace {workspace}", busy)


def _write(workspace: Path, tokens: Iterable[Token]) -> None:
    """Put a new file in the place of the old one; it was never anybody else's to read."""
    file = _file(workspace)
    text = json.dumps({"tokens": [asdict(each) for each in tokens]}, indent=1)
    try:
        handle, aside = tempfile.mkstemp(prefix=f".{TOKENS}.", dir=file.parent)  # of mode 0600
        try:
            with os.fdopen(handle, "w") as stream:
                stream.write(text + "\n")
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(aside, file)
        except BaseException:
            os.unlink(aside)
            raise
    except OSError as error:
        raise BadInput([f"{file}: can't be written: {(error.strerror or str(error)).lower()}"]) from None


# in a running service


class People:
    """Those who may come in, as the file of tokens is right now: it is looked at for every request."""

    def __init__(self, inner: Path, chosen: str | None, clock: Callable[[], float] = time.time) -> None:
        """Begin to look.

        Args:
            inner: the private folder of the workspace.
            chosen: the token of `--token-file`.
            clock: what time it is.
        """
        self._file = inner / TOKENS
        self._clock = clock
        self._owner = () if chosen is None else (Token(OWNER, "admin", digest_of(chosen), 0.0),)
        self._named: tuple[Token, ...] = ()
        self._seen: tuple[int, ...] | None = None
        self._guarded = chosen is not None
        self._lock = threading.Lock()

    @property
    def everybody(self) -> bool:
        """Whether no token is needed; once one was, that is so until the service ends."""
        self._tokens()
        return not self._guarded

    def with_secret(self, secret: str) -> Token | None:
        """Whose token this is; how long that takes says nothing about it."""
        digest, found = digest_of(secret), None
        for token in self._tokens():
            if hmac.compare_digest(token.sha256, digest):
                found = token
        return None if found is None or found.expired(self._clock()) else found

    def knows(self, token: Token) -> bool:
        """Whether a token still counts."""
        return token in self._tokens() and not token.expired(self._clock())

    def _tokens(self) -> tuple[Token, ...]:
        with self._lock:
            try:
                status = self._file.lstat()
            except FileNotFoundError:
                self._named, self._seen = (), None
                return self._owner
            except OSError as error:
                self._refuse_all(str(error), None)
                return self._owner
            seen = status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size
            if seen != self._seen:
                self._guarded, self._seen = True, seen
                try:
                    self._named = read_tokens(self._file)
                except BadInput as error:
                    self._refuse_all(str(error), seen)
            return self._owner + self._named

    def _refuse_all(self, reason: str, seen: tuple[int, ...] | None) -> None:
        """What can't be read lets nobody in."""
        log.error("no named token is taken: %s", reason)
        self._guarded, self._named, self._seen = True, (), seen


MOST_SESSIONS = 10_000


class Sessions:
    """Those who signed in on the page. They are known until they leave, their time or their token ends."""

    def __init__(self, people: People, seconds: float, clock: Callable[[], float] = time.time) -> None:
        self._people = people
        self._seconds = seconds
        self._clock = clock
        self._known: dict[str, tuple[Token, float]] = {}
        self._lock = threading.Lock()

    def begin(self, token: Token) -> tuple[str, float]:
        """A new session: its secret for the cookie, and the seconds that it lasts."""
        now = self._clock()
        until = min(now + self._seconds, token.expires or now + self._seconds)
        secret = secrets.token_urlsafe(TOKEN_BYTES)
        with self._lock:
            self._known = {key: each for key, each in self._known.items() if each[1] > now}
            if len(self._known) >= MOST_SESSIONS:
                del self._known[next(iter(self._known))]
            self._known[digest_of(secret)] = token, until
        return secret, until - now

    def who(self, secret: str) -> Token | None:
        """Whose session this is."""
        # the key is a hash of 256 random bits: how long it takes to find tells nothing that helps
        token, until = self._known.get(digest_of(secret), (None, 0.0))
        return token if token is not None and self._clock() < until and self._people.knows(token) else None

    def end(self, secret: str) -> None:
        """Somebody leaves."""
        with self._lock:
            self._known.pop(digest_of(secret), None)
