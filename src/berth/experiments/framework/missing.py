"""How far an experiment is: its runs, which of them are done, and the others dealt to tasks."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from berth.experiments.experiment import Run, Setting
from berth.experiments.framework.journal import Entry, Identity, Journal, identity_of
from berth.experiments.registry import Chosen

TASK_SECONDS = 2.0
"""Long against what Spark takes for a task; so short that processors end at nearly the same time."""
Task = list[dict[str, Any]]
"""Runs that one task does, in the columns of `TASKS`."""


@dataclass(frozen=True)
class State:
    """An experiment in a setting, and what the journal has of it.

    Attributes:
        chosen: the experiment.
        identity: which rows are its own.
        runs: all of its runs.
        succeeded: those that gave their rows, by key.
        failed: those that were tried and gave none.
        aside: how many runs there are that were asked for otherwise, or made by other code.
        current: whether its rows were made by the code as it is now.
    """

    chosen: Chosen
    identity: Identity
    runs: Sequence[Run]
    succeeded: dict[str, Entry]
    failed: Sequence[Entry]
    aside: Counter[Identity]
    current: bool = True

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.chosen.name

    def missing(self, *, in_driver: bool = False) -> Missing:
        """The executors' or the driver's runs that have no rows yet; those that failed are tried again."""
        runs = [run for run in self.runs if run.key not in self.succeeded and run.in_driver == in_driver]
        return Missing(self.name, self.chosen.place, self.identity, runs)

    @property
    def finished(self) -> bool:
        """Whether every run was done or tried."""
        return len(self.succeeded) + len(self.failed) == len(self.runs)

    @property
    def failed_share(self) -> str:
        """For people: '17 of 1,000 runs failed'."""
        return f"{len(self.failed):,} of {len(self.runs):,} runs failed"

    @property
    def seconds_each(self) -> float | None:
        """What a run takes; None: none was done yet."""
        seen = [entry["seconds"] for entry in self.succeeded.values()]
        return typical_seconds(seen) if seen else None

    @property
    def seconds(self) -> float:
        """The processor time of all runs together."""
        entries = [*self.succeeded.values(), *self.failed]
        return float(sum(entry["processor_seconds"] or 0.0 for entry in entries))


def state_of(chosen: Chosen, setting: Setting, journal: Journal, any_code: bool = False) -> State:
    """What the journal has of an experiment.

    Args:
        chosen: the experiment.
        setting: how it is asked for.
        journal: the runs that are there.
        any_code: rows made by other code will do, too, where the code as it is now has made none.

    Raises:
        ValueError: two runs have one key.
    """
    runs = list(chosen.experiment.runs(setting))
    keys = [run.key for run in runs]
    if len(set(keys)) < len(keys):
        twice = next(key for key, count in Counter(keys).items() if count > 1)
        raise ValueError(f"{chosen.name}: two runs have the key {twice!r}")
    stored = journal.identities(chosen.name)
    now = identity_of(setting, chosen.place)
    identity = now
    if any_code and not stored[now]:
        similar = [other for other in stored if other.same_question(now)]
        identity = max(similar, key=lambda other: stored[other], default=now)
    wanted = set(keys)
    return State(
        chosen,
        identity,
        runs,
        {key: entry for key, entry in journal.succeeded(chosen.name, identity).items() if key in wanted},
        [entry for entry in journal.failed(chosen.name, identity) if entry["key"] in wanted],
        Counter({other: count for other, count in stored.items() if other != identity and count}),
        identity == now,
    )


@dataclass(frozen=True)
class Missing:
    """What an experiment has not done yet."""

    name: str
    place: str
    identity: Identity
    runs: Sequence[Run]

    def task(self, runs: Iterable[Run]) -> Task:
        """Some of its runs as one task."""
        return [
            {
                "experiment": self.name,
                "place": self.place,
                "code": self.identity.code,
                "key": run.key,
                "parameters": json.dumps(dict(run.parameters), sort_keys=True),
            }
            for run in runs
        ]


def sample_tasks(missing: Iterable[Missing]) -> list[Task]:
    """The first and the middle run of each experiment: they say how long a run takes.

    Experiments of one paper load the same data, so neighbours are of different papers.
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
    """What a run takes, without the longest one: that loaded modules and data first."""
    return (sum(seen) - max(seen)) / (len(seen) - 1) if len(seen) > 1 else seen[0]


def _sample(runs: Sequence[Run]) -> list[Run]:
    return [runs[number] for number in sorted({0, len(runs) // 2})]


def _chunks(item: Missing, seconds: float) -> Iterator[Task]:
    size = max(1, int(TASK_SECONDS / max(seconds, 1e-4)))
    for start in range(0, len(item.runs), size):
        yield item.task(item.runs[start : start + size])
