"""A plan as files of another system: one for each application."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from berth.amounts import shortened
from berth.connectors.documents import Written, safe_names
from berth.connectors.heron import packing_plan
from berth.connectors.nomad import JobOptions, job
from berth.files import check_writable, write_text
from berth.files.document import is_standard
from berth.model import BadInput, Plan, Problem
from berth.model.errors import did_you_mean

MOST_LOSSES = 6
"""So many are named in a warning."""


class System(StrEnum):
    """Systems that berth writes for."""

    HERON = "heron"
    NOMAD = "nomad"
    MPS = "mps"
    """A program for solvers: it needs no plan."""


@dataclass(frozen=True)
class Request:
    """What to write."""

    systems: tuple[System, ...]
    application: str | None = None
    """None: all of them."""
    unit: str = "B"
    """What memory and disk of the problem are counted in."""
    job_options: JobOptions = field(default_factory=JobOptions)


def exported(problem: Problem, plan: Plan, request: Request) -> dict[str, Written]:
    """Documents by file name, such as `words.nomad.json`.

    Raises:
        BadInput: the problem has no such application, or a system can't hold the plan.
    """
    names = [application.name for application in problem.applications]
    if request.application is not None and request.application not in names:
        raise BadInput(f"--application: no application {did_you_mean(request.application, names)}")
    found: dict[str, Written] = {}
    mistakes: list[str] = []
    for number, (name, file) in enumerate(zip(names, safe_names(names), strict=True)):
        if request.application not in (None, name):
            continue
        for system in request.systems:
            try:
                found[f"{file}.{system}.json"] = _written(problem, plan, number, system, request)
            except BadInput as error:
                mistakes += error.mistakes
    if mistakes:
        raise BadInput(dict.fromkeys(mistakes))
    return found


def _written(problem: Problem, plan: Plan, number: int, system: System, request: Request) -> Written:
    if system is System.HERON:
        written = packing_plan(problem, plan, number, request.unit)
    else:
        written = job(problem, plan, number, request.unit, request.job_options)
    start = f"{problem.applications[number].name}/"
    losses = [name for name, moves in plan.failover.items() if any(item.startswith(start) for item in moves)]
    if not losses:
        return written
    line = f"the failover (after the loss of {shortened(losses, MOST_LOSSES)}) has no place in it"
    return replace(written, warnings=(*written.warnings, f"{system} {start[:-1]}: {line}"))


def write_all(documents: dict[str, Written], target: Path) -> list[Path]:
    """Write one document as the file `target`, or any number into the folder `target`.

    Raises:
        BadInput: it can't be written there.
    """
    if is_standard(target) and len(documents) > 1:
        raise BadInput(f"--out -: {len(documents)} files need a folder; --to and --application say which one")
    folder = len(documents) > 1 or target.is_dir()
    if not folder:
        return _write([target], documents)
    if target.exists() and not target.is_dir():
        raise BadInput(f"{target}: {len(documents)} files need a folder, and this is none")
    try:
        target.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"{target}: can't be made: {(error.strerror or str(error)).lower()}") from None
    return _write([target / name for name in documents], documents)


def _write(files: Sequence[Path], documents: dict[str, Written]) -> list[Path]:
    for file in files:
        check_writable(file)
    for file, written in zip(files, documents.values(), strict=True):
        write_text(file, written.text)
    return list(files)
