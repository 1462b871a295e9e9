"""Runs dealt to tasks: a sample of each experiment first, then the longest first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from berth.experiments.experiment import Run
from berth.experiments.framework.identity import Identity

TASK_SECONDS = 2.0
"""Long against what Spark takes for a task; so short that processors end at nearly the same time."""

Task = list[dict[str, Any]]
"""Runs that one task does, in the columns of `TASKS`."""


@dataclass(frozen=True)
class Missing:
    """What an experiment has not done yet."""

    name: str
    module: str
    identity: Identity
    runs: Sequence[Run]

    def task(self, runs: Iterable[Run]) -> Task:
        """Some of its runs as one task."""
        return [
            {
                "experiment": self.name,
                "module": self.module,
                "code": self.identity.code,
                "key": run.key,
                "parameters": json.dumps(dict(run.parameters), sort_keys=True),
            }
            for run in runs
        ]


def sample_tasks(missing: Iterable[Missing]) -> list[Task]:
    """The first and the middle run of each experiment: they say how long a run takes.

    Experiments of one paper compile the same loops, so neighbours are of different papers.
    """
    by_paper: dict[str, list[Missing]] = {}
    for item in missing:
        if item.runs:
            by_paper.setdefault(item.name.partition(".")[0], []).append(item)
    turns = zip_longest(*by_paper.values())
    return [item.task(_sample(item.runs)) for turn in turns for item in turn if item is not None]


def remaining_tasks(missing: Iterable[Missing], seconds: Mapping[str, float]) -> list[Task]:
    """All runs that are missing, in tasks of a few seconds, the longest runs first.

    Args:
        missing: what is to be done.
        seconds: what a run of each experiment takes, by the experiment's name.
    """
    order = sorted(missing, key=lambda item: -seconds.get(item.name, TASK_SECONDS))
    return [task for item in order for task in _chunks(item, seconds.get(item.name, TASK_SECONDS))]


def typical_seconds(seen: Sequence[float]) -> float:
    """What a run takes, without the longest one: that compiled loops first."""
    return (sum(seen) - max(seen)) / (len(seen) - 1) if len(seen) > 1 else seen[0]


def _sample(runs: Sequence[Run]) -> list[Run]:
    return [runs[number] for number in sorted({0, len(runs) // 2})]


def _chunks(item: Missing, seconds: float) -> Iterator[Task]:
    size = max(1, int(TASK_SECONDS / max(seconds, 1e-4)))
    for start in range(0, len(item.runs), size):
        yield item.task(item.runs[start : start + size])
