"""The experiments by name, in the order of the papers; each is loaded when it is asked for.

People choose them by the names that they give: X3.1, a paper's number, or its system.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import cast

from berth.experiments.experiment import Experiment
from berth.model import BadInput
from berth.model.errors import did_you_mean

PLACES: dict[str, str] = {
    # name: module under berth.experiments, and the experiment's constant in it
    "X0.1": "odp.user_metrics:USER_METRICS",
    "X0.2": "odp.decentralised:SPRINGS",
    "X0.3": "odp.decentralised:CONVERGING",
    "X0.4": "odp.best_fit:BEST_FIT",
    "X0.5": "odp.solve_times:SOLVE_TIMES",
    "X0.6": "odp.resolution_time:RESOLUTION_TIME",
    "X0.7": "odp.candidates:CANDIDATES",
    "X1.1": "mips.comparison:COMPARISON",
    "X1.2": "mips.parameters:TRADEOFF",
    "X1.3": "mips.parameters:EXPLORATION",
    "X2.1": "latency_bound.latency:LATENCY",
    "X2.2": "latency_bound.effort:USAGE",
    "X2.3": "latency_bound.effort:MESSAGES",
    "X3.1": "mopa.stretch:STRETCH",
    "X3.2": "mopa.adapting:MESSAGES",
    "X3.3": "mopa.adapting:MIGRATIONS",
    "X4.1": "many.processors:PROCESSORS",
    "X4.2": "many.loads:APPLICATIONS",
    "X4.3": "many.loads:SIZES",
    "X4.4": "many.loads:COMMUNICATION",
    "X4.5": "many.loads:SIMILARITY",
    "league": "league.experiment:LEAGUE",
}
_NAME = re.compile(r"X(?P<paper>\d)\.\d+")
_LAST = (10,)
"""Where names without a number stand: behind the papers."""


def place_of(name: str) -> str:
    """Where the experiment of a name in `PLACES` is, for `loaded`."""
    return f"berth.experiments.{PLACES[name]}"


def loaded(place: str) -> Experiment:
    """The experiment that is a constant of a module, from `module:constant`."""
    module, _, constant = place.partition(":")
    return cast(Experiment, getattr(import_module(module), constant))


@dataclass(frozen=True)
class Chosen:
    """An experiment and the place that it is loaded from, here and on executors."""

    name: str
    place: str
    experiment: Experiment


def chosen_from(given: Iterable[str]) -> list[Chosen]:
    """The experiments that some names stand for, in the papers' order; no name: all of the papers.

    Raises:
        BadInput: a name stands for none; the line says which is near.
    """
    names = sorted(PLACES, key=_order)
    words: dict[str, list[str]] = {}
    for name in names:
        for word in sorted(_words(name)):
            words.setdefault(word, []).append(name)
    wishes = [item.strip().lower() for item in given]
    mistakes = [
        f"no experiment {did_you_mean(item, words)}; 'berth reproduce --list' shows all"
        for item in wishes
        if item not in words
    ]
    if mistakes:
        raise BadInput(mistakes)
    wanted = (
        {name for item in wishes for name in words[item]}
        if wishes
        else {name for name in names if _NAME.fullmatch(name)}
    )
    return [_chosen(name) for name in names if name in wanted]


def everything() -> list[Chosen]:
    """All that there are, also those that are no paper's: these are run only if they are named."""
    return [_chosen(name) for name in sorted(PLACES, key=_order)]


def _chosen(name: str) -> Chosen:
    place = place_of(name)
    return Chosen(name, place, loaded(place))


def _order(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", name)) or _LAST


def _words(name: str) -> set[str]:
    """`X3.1` is x3.1; one of x3, 3 and 003; and one of its paper's package."""
    words = {name.lower()}
    package, dot, _ = PLACES[name].partition(".")
    if dot:
        words |= {package, package.replace("_", "-")}
    number = _NAME.fullmatch(name)
    if number:
        paper = number["paper"]
        words |= {f"x{paper}", paper, f"00{paper}"}
    return words
