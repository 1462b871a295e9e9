"""How far an experiment is: its runs, and which of them are done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from berth.experiments.experiment import Run, Setting
from berth.experiments.framework.choice import Chosen
from berth.experiments.framework.identity import Identity, identity_of
from berth.experiments.framework.journal import Entry, Journal
from berth.experiments.framework.tasks import Missing, typical_seconds


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
        return Missing(self.name, self.chosen.module, self.identity, runs)

    @property
    def finished(self) -> bool:
        """Whether every run was done or tried."""
        return len(self.succeeded) + len(self.failed) == len(self.runs)

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
    now = identity_of(setting, chosen.module)
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
