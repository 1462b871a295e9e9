"""Plans from files of any known format, recognised by what is in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from berth.connectors.heron import is_packing_plan, packed_shares
from berth.connectors.mps import solution_of
from berth.connectors.nomad import ReadJob, is_job, read_job
from berth.connectors.placements import Share, plan_of
from berth.evaluation import Evaluation, Setting, Situation, evaluate
from berth.evaluation.violations import containers
from berth.files import plan_from
from berth.files.document import mistakes_in, read_bytes, read_document
from berth.model import BadInput, Plan, Problem

SOLUTION = ".sol"
"""How files of solvers end."""
FIGURES = ("containers_used", "container_traffic_bytes_per_s")


@dataclass(frozen=True)
class Loaded:
    """A plan, and whether its files could say where anything runs."""

    plan: Plan
    has_servers: bool = True

    def verdict(self, problem: Problem, previous: Plan | None = None) -> Evaluation:
        """What the judge says of it; of files that only pack containers, what can be said.

        Raises:
            BadInput: it names what the problem doesn't have.
        """
        if self.has_servers:
            return evaluate(problem, self.plan, previous)
        return evaluate_packing(problem, self.plan)


def load_any(problem: Problem | None, paths: Sequence[Path]) -> Loaded:
    """Read a plan: berth's, a solver's, or packing plans (Heron) and jobs (Nomad) that together are one.

    Args:
        problem: what the plan is for; None: only berth's own files can be read.
        paths: files, or folders whose `*.json` are meant.

    Raises:
        BadInput: a file can't be read, isn't of a known format, or names what the problem doesn't have.
    """
    files = [file for path in paths for file in _files(path)]
    if len(files) == 1 and files[0].suffix == SOLUTION:
        return _solution(problem, files[0])
    documents = [read_document(file) for file in files]
    foreign = [is_packing_plan(document) or is_job(document) for document in documents]
    if len(files) == 1 and not foreign[0]:
        with mistakes_in(files[0]):
            return Loaded(plan_from(documents[0]))
    if problem is None:
        raise BadInput(f"{files[0]}: a plan of another system's can only be read with its problem")
    if len(files) == 1:
        with mistakes_in(files[0]):
            return _together(problem, [("", documents[0])])
    mistakes = [
        f"{file}: neither a packing plan of Heron's nor a job of Nomad's; a plan of berth's stands alone"
        for file, known in zip(files, foreign, strict=True)
        if not known
    ]
    if mistakes:
        raise BadInput(mistakes)
    return _together(problem, [(f"{file}: ", each) for file, each in zip(files, documents, strict=True)])


def _solution(problem: Problem | None, file: Path) -> Loaded:
    if problem is None:
        raise BadInput(f"{file}: a solver's solution can only be read with its problem")
    content = read_bytes(file)
    with mistakes_in(file):
        return Loaded(solution_of(problem, content.decode(errors="replace")))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.json"))
    if not found:
        raise BadInput(f"{path}: no *.json in this folder")
    return found


def _together(problem: Problem, documents: list[tuple[str, Any]]) -> Loaded:
    packed: list[Share] = []
    jobs: list[ReadJob] = []
    mistakes: list[str] = []
    for prefix, document in documents:
        try:
            if is_job(document):
                jobs.append(read_job(problem, document, prefix))
            else:
                packed += packed_shares(problem, document, prefix)
        except BadInput as error:
            mistakes += error.mistakes
    if mistakes:
        raise BadInput(mistakes)
    plan = plan_of(problem, packed, [share for job in jobs for share in job.shares])
    return Loaded(_with_more(plan, [job.more for job in jobs]), has_servers=bool(jobs))


def _with_more(plan: Plan, plans: list[Plan]) -> Plan:
    """The plan with what every job says is reused, skipped and downloaded: each says all of it."""
    for more in plans:
        plan = replace(
            plan,
            reuse={**plan.reuse, **more.reuse},
            skipped=plan.skipped + tuple(name for name in more.skipped if name not in plan.skipped),
            downloads=plan.downloads + tuple(item for item in more.downloads if item not in plan.downloads),
        )
    return plan


def evaluate_packing(problem: Problem, plan: Plan) -> Evaluation:
    """The metrics and constraints of containers; that nothing is placed is a violation, too.

    The judge computes them with everything on one node: what is between containers is the same wherever
    these run.
    """
    anywhere = dict.fromkeys(problem.instances.names, problem.network.nodes[0].name)
    packed = replace(plan, assignment=anywhere)
    metrics = evaluate(problem, packed).metrics
    violations = evaluate(problem, plan).violations + tuple(containers(Situation(Setting(problem), packed)))
    return Evaluation({key: metrics[key] for key in FIGURES if key in metrics}, violations)
