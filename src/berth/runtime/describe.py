"""What a problem file says of an application that is written in Python."""

from __future__ import annotations

from typing import Any

from berth.runtime.application import Application, Operator


def described(application: Application) -> dict[str, Any]:
    """The application's entry in a problem file: its operators and the streams between them."""
    return {
        "name": application.name,
        **application.fields,
        "operators": [_operator(each) for each in application.in_order()],
        "streams": [{"from": sender, "to": receiver} for sender, receiver in application.streams],
    }


def _operator(operator: Operator) -> dict[str, Any]:
    several = {"parallelism": operator.parallelism} if operator.parallelism > 1 else {}
    return {"name": operator.name, **several, **operator.fields}
