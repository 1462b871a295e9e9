"""Answers as JSON, those to what goes wrong included: one shape for all of it, and never a traceback."""

from __future__ import annotations

import errno
import logging
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from berth.files.document import NotWritten
from berth.files.mistakes import Mistake, mistakes_from
from berth.model import BadInput
from berth.model.errors import LONGEST_NAME, MOST_LINES, and_more, shortened
from berth.web.documents import json_bytes


def answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A response with a document; bytes are JSON already."""
    data = document if isinstance(document, bytes) else json_bytes(document)
    return Response(data, status, dict(headers or {}), "application/json")


log = logging.getLogger("berth.web")

UNION_TAGS = ("(mapping)", "(list)")
"""What pydantic calls the two forms that a field may have; no part of the field's path."""

_WORDS = {404: "there is no such thing", 405: "this can't be done with it", 413: "the body is too large"}


class Refused(Exception):  # noqa: N818
    """A request that can't be met, with the status that says why."""

    def __init__(
        self,
        status: int,
        error: str,
        /,
        mistakes: Sequence[Mistake] = (),
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(error)
        self.status = status
        self.document = {"error": error, "mistakes": [each.document() for each in mistakes], **more}
        self.headers = dict(headers or {})


def missing(what: str) -> Refused:
    """For what is not there."""
    return Refused(404, f"there is no {what}")


def unprocessable(mistakes: Sequence[Mistake], count: int | None = None) -> Refused:
    """For what was sent with mistakes; `count` of them, where not all are told."""
    count = len(mistakes) if count is None else count
    return Refused(422, f"{count:,} mistake{'' if count == 1 else 's'}", mistakes)


def refusal_of(error: BadInput) -> Refused:
    """For what was sent with mistakes, as the library tells them."""
    return unprocessable(mistakes_from(error), error.count)


def _path(location: Sequence[str | int]) -> str:
    """As in `objective[1].traffic`, without what part of the request it is."""
    parts = [part for part in location[1:] if part not in UNION_TAGS]
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")


FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE})


def disk_refusal(number: int | None) -> Refused | None:
    """For what can't be written, by the number of the system's error; None where that says something else."""
    if number in FULL:
        return Refused(507, "the disk of the workspace is full; nothing was stored")
    if number is not None and number in CLOSED:
        return Refused(503, f"the workspace can't be written: {os.strerror(number).lower()}")
    return None


_PLACES = re.compile(r"(?<![\w.:/])/(?:[^\s/'\",:;]+/)+")


def without_places(text: str) -> str:
    """A message without the folders of this machine: only the names of files are left."""
    return _PLACES.sub("", text)


def add_handlers(app: FastAPI) -> None:
    """Turn every error into an answer."""

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, Refused)
        return answer(error.document, error.status, error.headers)

    async def bad_input(request: Request, error: Exception) -> Response:
        assert isinstance(error, BadInput)
        full = disk_refusal(error.number) if isinstance(error, NotWritten) else None
        if full is not None:
            log.error("%s %s: %s", request.method, request.url.path, error)
            return await refused(request, full)
        error = error.reworded(without_places)
        return await refused(request, refusal_of(error))

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        errors = error.errors()
        found = [
            Mistake(shortened(_path(each["loc"]), 2 * LONGEST_NAME), str(each["msg"]))
            for each in errors[:MOST_LINES]
        ]
        if len(errors) > MOST_LINES:
            found.append(Mistake("", and_more(len(errors) - MOST_LINES)))
        return await refused(request, unprocessable(found, len(errors)))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 400:
            # what can't even be read is a mistake like others
            return await refused(request, unprocessable([Mistake("", "the body is no JSON in UTF-8")]))
        words = _WORDS.get(error.status_code) or str(error.detail)
        headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
        return answer({"error": words, "mistakes": []}, error.status_code, headers)

    async def system(request: Request, error: Exception) -> Response:
        assert isinstance(error, OSError)
        expected = disk_refusal(error.errno)
        if expected is None:
            return await unforeseen(request, error)
        log.error("%s %s: %s", request.method, request.url.path, error)
        return await refused(request, expected)

    async def gone(request: Request, _: Exception) -> Response:
        return await refused(request, Refused(400, "the body did not come to its end"))

    async def unforeseen(request: Request, error: Exception) -> Response:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return await refused(request, _our_mistake())

    app.add_exception_handler(Refused, refused)
    app.add_exception_handler(BadInput, bad_input)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)
    app.add_exception_handler(ClientDisconnect, gone)
    app.add_exception_handler(OSError, system)
    app.add_exception_handler(Exception, unforeseen)


def _our_mistake() -> Refused:
    return Refused(500, "the service made a mistake; its log says more")


def _allowed(request: Request) -> str:
    """The methods that a path has; one without parameters goes before those with them."""
    paths: dict[str, dict[str, Any]] = request.app.openapi()["paths"]
    fitting = [
        path
        for path in sorted(paths, key=lambda path: path.count("{"))
        if re.fullmatch(re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)), request.url.path)
    ]
    return ", ".join(sorted(map(str.upper, paths[fitting[0]]))) if fitting else "GET"
