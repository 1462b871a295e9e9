"""The evaluation rules of the contract: metrics and violations of any plan, slowly and obviously.

Docstrings quote the sentence of the contract that a function stands for. Readings that the contract leaves
open are marked "Reading:".
"""

from typing import Any

from . import processors
from .constraints import violations
from .losses import loss_violations
from .metrics import metrics
from .situation import Model


def evaluate(
    problem: dict[str, Any], plan: dict[str, Any], previous: dict[str, Any] | None = None
) -> tuple[dict[str, float], list[str]]:
    """Return the metrics and the violations of a plan; problem and plans are parsed files."""
    situation = Model(problem).situation(plan, previous)
    return metrics(situation), [*violations(situation), *loss_violations(situation)]


def processor_warnings(problem: dict[str, Any], plan: dict[str, Any]) -> list[str]:
    """Return the lines of a plan's `warnings` that tell of processors needed."""
    return list(processors.warnings(Model(problem).situation(plan)))
