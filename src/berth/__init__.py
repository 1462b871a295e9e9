"""berth finds a berth for every stream operator.

>>> import berth
>>> problem = berth.load("examples/tag-and-count.yaml")
>>> plan = berth.solve(problem)
>>> plan.status, round(plan.metrics["response_time_ms"], 3)
('optimal', 31.836)
>>> berth.evaluate(problem, plan).violations
()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from berth.evaluation import Evaluation, evaluate
    from berth.explanation import Explanation, explain
    from berth.files import load, load_plan, save_plan
    from berth.generators import generate
    from berth.model import BadInput, Front, Plan, Problem
    from berth.policies import Alternatives, alternatives, front, solve

__version__ = "0.1.0"

__all__ = [
    "Alternatives",
    "BadInput",
    "Evaluation",
    "Explanation",
    "Front",
    "Plan",
    "Problem",
    "alternatives",
    "evaluate",
    "explain",
    "front",
    "generate",
    "load",
    "load_plan",
    "save_plan",
    "solve",
]

_HOMES = {
    "Alternatives": "policies",
    "BadInput": "model",
    "Evaluation": "evaluation",
    "Explanation": "explanation",
    "Front": "model",
    "Plan": "model",
    "Problem": "model",
    "alternatives": "policies",
    "evaluate": "evaluation",
    "explain": "explanation",
    "front": "policies",
    "generate": "generators",
    "load": "files",
    "load_plan": "files",
    "save_plan": "files",
    "solve": "policies",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for, so that the command is there at once and can be interrupted from the start."""
    if name not in _HOMES:
        raise AttributeError(f"module 'berth' has no attribute {name!r}")
    value = getattr(import_module(f"berth.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
