"""Files of events: what happens to a running plan from outside (`berth simulate --events`)."""

from __future__ import annotations

from pathlib import Path
from typing import Required

from typing_extensions import TypedDict

from berth.files.document import document_from, mistakes_in, read_bytes
from berth.files.format import Amount, Format, closed
from berth.files.kinds import expect
from berth.files.plan_file import load_plan
from berth.model import BadInput, Plan, Problem
from berth.simulate import Events, Failure, Migration, NodeLoss, RateChange
from berth.simulate.events import check_events


@closed
class _Rate(TypedDict, total=False):
    at_s: Required[Amount]
    factor: Required[Amount]
    sources: list[str]


@closed
class _Failure(TypedDict, total=False):
    node: Required[str]
    at_s: Required[Amount]
    until_s: Amount


@closed
class _Migration(TypedDict, total=False):
    at_s: Required[Amount]
    plan: str
    assignment: dict[str, str]


@closed
class _Loss(TypedDict, total=False):
    name: Required[str]
    at_s: Required[Amount]


@closed
class _Events(TypedDict, total=False):
    rates: list[_Rate]
    failures: list[_Failure]
    migrations: list[_Migration]
    losses: list[_Loss]


EVENTS = Format(_Events)


def load_events(path: Path, problem: Problem, plan: Plan) -> Events:
    """Read a file of events; `plan` is what is in force before any migration.

    Raises:
        BadInput: a line for each mistake, with the file's name and the path of the field.
    """
    content = read_bytes(path)
    with mistakes_in(path, content):
        document = document_from(content, path)
        expect(document, "events")
        return _events(EVENTS.checked(document), path.parent, problem, plan)


def _events(document: _Events, folder: Path, problem: Problem, plan: Plan) -> Events:
    events = Events(
        rates=tuple(
            RateChange(item["at_s"], item["factor"], tuple(item["sources"]) if "sources" in item else None)
            for item in document.get("rates", ())
        ),
        failures=tuple(
            Failure(item["node"], item["at_s"], item.get("until_s")) for item in document.get("failures", ())
        ),
        migrations=_migrations(document.get("migrations", []), folder, plan),
        losses=tuple(NodeLoss(item["name"], item["at_s"]) for item in document.get("losses", ())),
    )
    check_events(problem, events)
    return events


def _migrations(items: list[_Migration], folder: Path, plan: Plan) -> tuple[Migration, ...]:
    """Plans by time; an assignment is what moves, and everything else stays."""
    found: dict[int, Migration] = {}
    for number in sorted(range(len(items)), key=lambda at: items[at]["at_s"]):
        item = items[number]
        if ("plan" in item) == ("assignment" in item):
            raise BadInput([f"migrations[{number}]: either plan or assignment is needed"])
        if "plan" in item:
            plan = _read_plan(folder / item["plan"], f"migrations[{number}].plan")
        else:
            plan = Plan({**plan.assignment, **item["assignment"]}, reuse=plan.reuse, skipped=plan.skipped)
        found[number] = Migration(item["at_s"], plan)
    return tuple(found[number] for number in range(len(items)))


def _read_plan(file: Path, name: str) -> Plan:
    try:
        return load_plan(file)
    except BadInput as error:
        raise error.reworded(lambda line: f"{name}: {line}") from None
