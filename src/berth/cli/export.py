"""`berth export`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from berth.cli.exit_codes import BROKEN
from berth.cli.options import ProblemFile, argument, flag, option
from berth.cli.output import tell
from berth.cli.plan_files import read_plan
from berth.connectors import JobOptions, Request, System, exported, write_all
from berth.connectors.mps import mps_of
from berth.connectors.nomad import DATACENTERS, HERON_IMAGE, NODE_NAME, WITH_IMAGES
from berth.evaluation import evaluate
from berth.files import check_writable, load, write_text
from berth.files.document import is_standard
from berth.model import BadInput

EXPORT_EXAMPLES = """Examples:

  berth export problem.yaml plan.json --to heron --to nomad --out deploy

  berth export problem.yaml plan.json --to nomad --application words --out words.json

  berth evaluate problem.yaml deploy

  berth export problem.yaml --to mps --out problem.mps

  berth evaluate problem.yaml solution.sol

What is written can be read back by 'berth evaluate', 'show' and 'diff'. A plan that breaks constraints is
not exported (exit code 5) unless --force is given.
"""

MOST_MHZ = 1e6
OptionalPlan = Annotated[list[Path] | None, argument("Plan file, JSON; none for mps.", "PLAN")]


def export(
    problem: ProblemFile,
    plan: OptionalPlan = None,
    to: list[System] = option(
        ..., "A packing plan of Heron's, a job of Nomad's (can be repeated); or mps, a program for solvers."
    ),
    target: Path = option(
        ..., "The file; or the folder, where there are several files.", "FILE|DIR", "--out"
    ),
    application: str | None = option(None, "Only this application. Default: all.", "NAME"),
    memory_unit: Literal["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"] = option(
        "B", "What the problem counts memory and disk in."
    ),
    mhz_per_core: float | None = option(
        None, "Nomad: ask for this many MHz per cpu. Default: whole cores.", "MHZ"
    ),
    driver: str = option("docker", "Nomad: the tasks' driver.", "NAME"),
    image: str | None = option(
        None, f"Nomad: the image for docker or podman. Default: {HERON_IMAGE}.", "IMAGE"
    ),
    command: str | None = option(
        None, "Nomad: what a task runs by /bin/sh. Default: what the image starts.", "COMMAND"
    ),
    datacenter: list[str] | None = option(
        None, "Nomad: where the servers are. Can be repeated. Default: anywhere.", "NAME"
    ),
    node_attribute: str = option(NODE_NAME, "Nomad: what of a client equals a node's name.", "ATTRIBUTE"),
    force: bool = flag("--force", "Also a plan that breaks constraints or is incomplete."),
) -> None:
    """Write a plan for another system, a file for each application; or a problem for solvers (mps)."""
    if System.MPS in to:
        if plan or len(set(to)) > 1:
            raise BadInput("--to mps: stands alone, without a plan: the program is what finds one")
        written = mps_of(load(problem))
        check_writable(target)
        write_text(target, written)
        if not is_standard(target):
            tell(f"written to {target}")
        return
    if not plan:
        raise BadInput("PLAN: is missing; only a program for solvers (--to mps) needs none")
    options = JobOptions(
        driver=driver,
        image=_image(driver, image, command, nomad=System.NOMAD in to),
        command=command,
        datacenters=tuple(datacenter or DATACENTERS),
        node_attribute=_attribute(node_attribute),
        mhz_per_core=_mhz(mhz_per_core),
    )
    loaded = load(problem)
    chosen = read_plan(loaded, plan).plan
    broken = evaluate(loaded, chosen).violations
    for line in broken:
        tell(line)
    if broken and not force:
        tell(f"not exported: it breaks {len(broken)} constraints (--force: export it all the same)")
        raise typer.Exit(BROKEN)
    request = Request(tuple(dict.fromkeys(to)), application, memory_unit, options)
    documents = exported(loaded, chosen, request)
    for line in dict.fromkeys(line for written in documents.values() for line in written.warnings):
        tell(f"warning: {line}")
    for file in write_all(documents, target):
        if not is_standard(file):
            tell(f"written to {file}")


def _image(driver: str, image: str | None, command: str | None, nomad: bool) -> str:
    """The image to start; drivers without one need a command."""
    if not driver:
        raise BadInput("--driver: is empty; Nomad's usual ones are docker, exec and raw_exec")
    if image is not None and driver not in WITH_IMAGES:
        raise BadInput(f"--image {image}: the driver {driver!r} starts no image; leave it out")
    if nomad and command is None and driver not in WITH_IMAGES:
        raise BadInput(f"--command: is needed with the driver {driver!r}: what does a task run?")
    return HERON_IMAGE if image is None else image


def _attribute(given: str) -> str:
    """The attribute's name, whether or not it is written as Nomad's constraints have it."""
    name = given.removeprefix("${").removesuffix("}")
    if not re.fullmatch(r"[\w.-]+", name):
        raise BadInput(f"--node-attribute {given}: expected a name such as {NODE_NAME} or meta.rack")
    return name


def _mhz(given: float | None) -> float | None:
    if given is not None and not 1 <= given <= MOST_MHZ:
        raise BadInput(f"--mhz-per-core {given:g}: expected 1 to {MOST_MHZ:,.0f}")
    return given
