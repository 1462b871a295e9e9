"""Experiments by the names that people give: X3.1, a paper's number, or its system."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from berth.experiments import registry
from berth.experiments.experiment import Experiment
from berth.model import BadInput
from berth.model.suggest import did_you_mean

_NAME = re.compile(r"X(?P<paper>\d)\.\d+")
_LAST = (10,)


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
    names = sorted(registry.PLACES, key=_order)
    words = {word: [name for name in names if word in _words(name)] for word in _all_words(names)}
    asked = [item.strip().lower() for item in given]
    mistakes = [
        f"no experiment {did_you_mean(item, words)}; 'berth reproduce --list' shows all"
        for item in asked
        if item not in words
    ]
    if mistakes:
        raise BadInput(mistakes)
    wanted = (
        {name for item in asked for name in words[item]}
        if asked
        else {name for name in names if _NAME.fullmatch(name)}
    )
    return [loaded(name) for name in names if name in wanted]


def everything() -> list[Chosen]:
    """All that there are, also those that are no paper's: these are run only if they are named."""
    return [loaded(name) for name in sorted(registry.PLACES, key=_order)]


def loaded(name: str) -> Chosen:
    """The experiment of a name in the registry."""
    module = registry.module_of(name)
    return Chosen(name, module, registry.loaded(module))


def _order(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", name)) or _LAST


def _all_words(names: Iterable[str]) -> list[str]:
    return sorted({word for name in names for word in _words(name)})


def _words(name: str) -> set[str]:
    """`X3.1` is x3.1; one of x3, 3 and 003; and one of its paper's package."""
    words = {name.lower()}
    package, dot, _ = registry.PLACES[name].partition(".")
    if dot:
        words |= {package, package.replace("_", "-")}
    number = _NAME.fullmatch(name)
    if number:
        paper = number["paper"]
        words |= {f"x{paper}", paper, f"00{paper}"}
    return words
