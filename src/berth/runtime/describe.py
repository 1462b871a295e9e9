"""What a problem file says of an application that is written in Python."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from berth.files import problem_from
from berth.files.document import read_document
from berth.model import BadInput
from berth.runtime.application import Application, Operator


def problem_document(applications: Sequence[Application], network: Path | None = None) -> dict[str, Any]:
    """A problem file with these applications; without the network of another one, only that part of it.

    Raises:
        BadInput: an application says something of itself that no problem file may.
    """
    whole: dict[str, Any] = {"format": "berth/v1", "name": "+".join(each.name for each in applications)}
    if network is not None:
        taken = read_document(network)
        problem_from(taken)
        whole |= {key: taken[key] for key in taken if key not in ("format", "name", "applications")}
    whole["applications"] = [described(each) for each in applications]
    if network is not None:
        problem_from(whole)
    else:
        _check_alone(whole)
    return whole


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


def _check_alone(document: dict[str, Any]) -> None:
    """Check the fields of an application as far as that can be done without its nodes and objects."""
    operators = [each for application in document["applications"] for each in application["operators"]]
    nodes = dict.fromkeys(name for each in operators for name in _nodes_of(each))
    objects = dict.fromkeys(read["object"] for each in operators for read in each.get("reads", ()))
    network = {"nodes": [{"name": name, "holds": list(objects)} for name in nodes or ["anywhere"]]}
    stand_in = {"network": network, "objects": [{"name": name, "bytes": 0} for name in objects]}
    try:
        problem_from(document | stand_in)
    except BadInput as error:
        about = [line for line in error.mistakes if line.startswith("applications[")]
        if about:
            raise BadInput(about) from None


def _nodes_of(operator: dict[str, Any]) -> list[str]:
    candidates = operator.get("candidates", [])
    pinned = [operator["pinned"]] if isinstance(operator.get("pinned"), str) else []
    return [*pinned, *(candidates if isinstance(candidates, list) else [])]
