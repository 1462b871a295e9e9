"""Running applications by a plan in one call: the cluster, the run, what is seen of it, the report."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from berth.files.document import write_text
from berth.model import Plan, Problem
from berth.runtime.application import Application
from berth.runtime.cluster.access import access_for
from berth.runtime.loading import together
from berth.runtime.observer import RunFailed, RunObserver
from berth.runtime.placement import placement_of
from berth.runtime.running import ENDS, FAILED, NODE_LOST, STOPPED, Run, RunOptions
from berth.runtime.tally import REPORT_FILE, RunTally, TallyWriter

GRACE_SECONDS = 60.0
"""For a node that is lost to come back."""
POLL_SECONDS = 1.0


@dataclass(frozen=True)
class RunResult:
    """How a run ended, and what it came to."""

    ended_because: str
    """`finished`, `stopped`, `failed` or `node lost`."""
    error: Exception | None
    """Why, where it failed."""
    tally: RunTally
    folder: Path

    @property
    def document(self) -> dict[str, Any]:
        """What `report.json` says."""
        return self.tally.document() | {"ended_because": self.ended_because}

    def write_report(self) -> None:
        """Write `report.json`."""
        text = json.dumps(self.document, indent=2, allow_nan=False)
        write_text(self.folder / REPORT_FILE, text + "\n")


def run(
    applications: Application | Sequence[Application],
    problem: Problem,
    plan: Plan,
    *,
    folder: Path | None = None,
    options: RunOptions | None = None,
    master_url: str | None = None,
    ui_url: str | None = None,
    observer: RunObserver | None = None,
) -> RunResult:
    """Run applications on Spark with every operator on its planned node, until they end.

    Args:
        applications: what runs; several run as one, and share what the plan lets them share.
        problem: the nodes and the network.
        plan: where every instance runs.
        folder: for checkpoint, telemetry and report; None: `NAME.run`, by the application's name.
        options: how.
        master_url: the cluster; None: a running one of `start_cluster`, else one for the time of this call.
        ui_url: the page of that cluster's master; None: where Spark has it by default.
        observer: hears what happens.

    Raises:
        BadInput: the applications, the problem, the plan and the cluster don't go together.
    """
    given = [applications] if isinstance(applications, Application) else list(applications)
    application = together(given, plan, problem)
    placement = placement_of(application, problem, plan)
    options, observer = options or RunOptions(), observer or RunObserver()
    folder = folder if folder is not None else folder_of(application)
    tally = RunTally(application, placement, time.time() * 1000)
    with (
        access_for(
            problem, master_url, ui_url, observer.step, options.secret_file, options.encrypt
        ) as access,
        Run(
            application, problem, plan, access, folder, options, TallyWriter(tally, folder).add, observer.step
        ) as running,
        observer.running(running, tally),
    ):
        ended_because, error = _until_over(running, options.seconds, observer)
    tally.end(time.time() * 1000)
    result = RunResult(ended_because, error, tally, folder)
    result.write_report()
    return result


def folder_of(application: Application) -> Path:
    """Where a run has its files unless somebody says otherwise."""
    return Path(f"{application.name}.run")


def _until_over(running: Run, seconds: float | None, observer: RunObserver) -> tuple[str, Exception | None]:
    """How it ended, and why if it failed. A node that is lost may come back for a while."""
    deadline = None if seconds is None else time.monotonic() + seconds
    lost_at: float | None = None
    while True:
        word = running.wait(POLL_SECONDS)
        if word == FAILED:
            return word, running.error
        if word in ENDS:
            return word, None
        lost = running.dead_nodes().intersection(running.placement.used)
        names = ", ".join(sorted(lost))
        if not lost:
            lost_at = None
        elif lost_at is None:
            lost_at = time.monotonic()
            observer.note(f"node {names} is gone: waiting {GRACE_SECONDS:.0f} s for it to come back")
        elif time.monotonic() - lost_at > GRACE_SECONDS:
            return NODE_LOST, RunFailed(
                f"node {names} is gone. Nothing is lost: run again when it is back, or with a plan without "
                "it; 'berth watch' does that by itself"
            )
        if deadline is not None and time.monotonic() >= deadline:
            return STOPPED, None
