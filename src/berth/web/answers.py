"""Answers as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from berth.web.plain import json_bytes


def answer(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A response with a document."""
    return Response(json_bytes(document), status, dict(headers or {}), "application/json")
