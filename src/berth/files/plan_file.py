"""Plan files: their description, reading any plan, writing ours."""

import json
import os
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Required

from typing_extensions import TypedDict

from berth.files.document import document_from, mistakes_in, read_bytes, write_text
from berth.files.format import (
    Finite,
    Format,
    Name,
    Whole,
    about,
    by_kind,
    closed,
    listed,
    mapping,
    open_ended,
)
from berth.files.kinds import expect
from berth.model import Download, Plan
from berth.model.plan import Status

PLAN_FORMAT = "berth-plan/v1"

_Ends = TypedDict("_Ends", {"from": Name, "to": Name})


@closed
class DownloadDocument(_Ends):
    """An object that the node `to` reads from the holder `from`."""

    object: Name


@open_ended
class LevelDocument(TypedDict, total=False):
    """One of several goals in order; its bound holds among the plans that the goals before it admit."""

    goal: dict[str, Finite]
    objective: Finite | None
    bound: Finite | None
    gap: Finite | None


@open_ended
class PlanDocument(TypedDict, total=False):
    """A plan file, in the order in which it is written; other tools may write more into it."""

    format: Literal["berth-plan/v1"]
    problem: str
    problem_fingerprint: Annotated[str, about("of the content of the problem that the plan was made for")]
    policy: str
    seed: Whole
    goal: Annotated[
        Annotated[dict[str, Finite], mapping] | Annotated[list[dict[str, Finite]], listed],
        by_kind,
        about("what was minimised: weights by metric, or a list of them, in order"),
    ]
    status: Status
    reason: Annotated[str | None, about("why there is no plan, or why the search ended early")]
    objective: Annotated[Finite | None, about("in the goal's terms")]
    bound: Annotated[Finite | None, about("what no plan can do better than; null where nothing is proved")]
    gap: Finite | None
    seconds: Finite
    assignment: Required[Annotated[dict[str, str], about("node by instance")]]
    containers: Annotated[dict[str, str], about("container by instance")]
    downloads: list[DownloadDocument]
    reuse: Annotated[dict[str, str], about("by operator, the operator whose result is taken")]
    skipped: Annotated[list[str], about("operators that nobody needs because of that")]
    failover: Annotated[
        dict[str, dict[str, str]],
        about("by lost node, or lost value of the label, the new node of each instance that moves"),
    ]
    levels: Annotated[list[LevelDocument], about("goals in order: what each came to")]
    metrics: dict[str, Finite]
    violations: Annotated[list[str], about("a line for every broken constraint")]
    warnings: Annotated[list[str], about("what breaks nothing and is worth knowing")]
    trace: Annotated[dict[str, Any], about("what the policy tells about its work")]


PLAN = Format(PlanDocument, "berth plan")
LEFT_OUT_IF_EMPTY = (
    "problem_fingerprint",
    "containers",
    "downloads",
    "reuse",
    "skipped",
    "failover",
    "levels",
    "trace",
)


def load_plan(path: str | os.PathLike[str]) -> Plan:
    """Read a plan file; only its `assignment` is needed.

    Raises:
        BadInput: it can't be read or has fields of a wrong kind: one line for each mistake, with the file,
            the line in it and the path of the field.
    """
    content = read_bytes(path)
    with mistakes_in(path, content):
        return plan_from(document_from(content, path))


def plan_from(document: Any) -> Plan:
    """The plan in the data of a plan file; keys that berth doesn't know are left alone."""
    expect(document, "plan")
    checked = PLAN.checked(document)
    fields = PlanDocument.__annotations__.keys() - {"format"}
    known: dict[str, Any] = {key: value for key, value in checked.items() if key in fields}
    known["downloads"] = tuple(
        Download(item["object"], item["from"], item["to"]) for item in checked.get("downloads", ())
    )
    lists = {key: tuple(value) for key, value in known.items() if isinstance(value, list)}
    return Plan(**known | lists)


def plan_document(plan: Plan) -> dict[str, Any]:
    """The data of a plan file, in the contract's order; what means nothing is left out."""
    downloads = [{"object": d.object, "from": d.source, "to": d.target} for d in plan.downloads]
    values = {**vars(plan), "format": PLAN_FORMAT, "downloads": downloads}
    return {
        key: _plain(values[key])
        for key in PlanDocument.__annotations__
        if values[key] or key not in LEFT_OUT_IF_EMPTY
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def plan_text(plan: Plan) -> str:
    """A plan file's text."""
    return json.dumps(plan_document(plan), indent=2, allow_nan=False) + "\n"


def save_plan(plan: Plan, path: str | os.PathLike[str]) -> None:
    """Write a plan file, whole or not at all."""
    write_text(path, plan_text(plan))
