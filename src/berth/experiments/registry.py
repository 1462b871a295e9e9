"""The experiments by name, in the order of the papers; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from berth.experiments.experiment import Experiment

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


def experiment(name: str) -> Experiment:
    """The experiment of a name in `PLACES`."""
    return loaded(module_of(name))


def module_of(name: str) -> str:
    """The module of a name in `PLACES`, as Python imports it."""
    return f"berth.experiments.{PLACES[name]}"


def loaded(module: str) -> Experiment:
    """The experiment of a module."""
    return cast(Experiment, import_module(module).EXPERIMENT)
