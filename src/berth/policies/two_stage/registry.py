"""All first and second stages by name; a new one is a line here and a name in `parameters.py`."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from berth.policies.two_stage.stages import FirstStage, SecondStage


@dataclass(frozen=True)
class Entry:
    """Where a stage is, and whether it looks at traffic."""

    address: str
    """`module:function` within this package."""
    needs_rates: bool


FIRST_STAGES = {
    "exact": Entry("exact:first_stage", needs_rates=True),
    "ffd": Entry("ffd:first_fit", needs_rates=False),
    "mips": Entry("mips:first_stage", needs_rates=True),
    "r-heron": Entry("r_heron:nearest", needs_rates=True),
    "t-heron": Entry("t_heron:least_traffic", needs_rates=True),
}
SECOND_STAGES = {
    "best-fit": Entry("best_fit:best_fit", needs_rates=False),
    "exact": Entry("exact:second_stage", needs_rates=True),
    "mips": Entry("mips:second_stage", needs_rates=True),
}


def first_stage(name: str) -> FirstStage:
    """The first stage of that name."""
    found: FirstStage = _loaded(FIRST_STAGES[name])
    return found


def second_stage(name: str) -> SecondStage:
    """The second stage of that name."""
    found: SecondStage = _loaded(SECOND_STAGES[name])
    return found


def _loaded(entry: Entry) -> Any:
    module, function = entry.address.split(":")
    return getattr(import_module(f"berth.policies.two_stage.{module}"), function)
