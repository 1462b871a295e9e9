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
    # name: module under berth.experiments; its constant EXPERIMENT is the experiment
    "X0.1": "odp.user_metrics",
    "X0.2": "odp.springs",
    "X0.3": "odp.converging",
    "X0.4": "odp.best_fit",
    "X0.5": "odp.solve_times",
    "X0.6": "odp.resolution_time",
    "X0.7": "odp.candidates",
    "X1.1": "mips.comparison",
    "X1.2": "mips.tradeoff",
    "X1.3": "mips.exploration",
    "X2.1": "latency_bound.latency",
    "X2.2": "latency_bound.usage",
    "X2.3": "latency_bound.messages",
    "X3.1": "mopa.stretch",
    "X3.2": "mopa.messages",
    "X3.3": "mopa.migrations",
    "X4.1": "many.processors",
    "X4.2": "many.number_of_applications",
    "X4.3": "many.sizes",
    "X4.4": "many.communication",
    "X4.5": "many.similarity",
    "league": "league.experiment",
}
_NAME = re.compile(r"X(?P<paper>\d)\.\d+")
_LAST = (10,)
"""Where names without a number stand: behind the papers."""


def module_of(name: str) -> str:
    """The module of a name in `PLACES`, as Python imports it."""
    return f"berth.experiments.{PLACES[name]}"


def loaded(module: str) -> Experiment:
    """The experiment of a module."""
    return cast(Experiment, import_module(module).EXPERIMENT)


@dataclass(frozen=True)
class Chosen:
    """An experiment and the module that it is loaded from, here and on executors."""

    name: str
    module: str
    experiment: Experiment


def chosen_from(given: Iterable[str]) -> list[Chosen]:
    """The experiments that some names stand for, in the papers' order; no name: all of the papers.

    Raises:
        BadInput: a name stands for none; the line says which is near.
    """
    names = sorted(PLACES, key=_order)
    words = {word: [name for name in names if word in _words(name)] for word in _all_words(names)}
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
    module = module_of(name)
    return Chosen(name, module, loaded(module))


def _order(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", name)) or _LAST


def _all_words(names: Iterable[str]) -> list[str]:
    return sorted({word for name in names for word in _words(name)})


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
