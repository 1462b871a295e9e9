"""The experiments by name, in the order of the papers; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from berth.experiments.experiment import Experiment

PLACES: dict[str, str] = {
    # name: module under berth.experiments; its constant EXPERIMENT is the experiment
}


def experiment(name: str) -> Experiment:
    """The experiment of a name in `PLACES`."""
    return cast(Experiment, import_module(f"berth.experiments.{PLACES[name]}").EXPERIMENT)
