"""A plan: where every instance runs, and what is known about how good that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class Download:
    """An object that a node fetches from a holder."""

    object: str
    source: str
    target: str


@dataclass(frozen=True)
class Plan:
    """An assignment with its status, proof, metrics and violations; only `assignment` is needed."""

    assignment: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""
    problem_fingerprint: str = ""
    """Of the problem that it was made for; empty: not known."""
    policy: str = ""
    seed: int = 0
    goal: Mapping[str, float] | tuple[Mapping[str, float], ...] = field(default_factory=dict)
    """Weights over metrics; several of them where goals are in order."""
    status: Status = "feasible"
    reason: str | None = None
    objective: float | None = None
    bound: float | None = None
    gap: float | None = None
    seconds: float = 0.0
    containers: Mapping[str, str] = field(default_factory=dict)
    downloads: tuple[Download, ...] = ()
    reuse: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    failover: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By lost node, or lost value of a label, the new nodes of the instances that move then."""
    levels: tuple[Mapping[str, Any], ...] = ()
    """Of goals in order: `goal`, `objective`, `bound` and `gap` of each."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    violations: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """What breaks nothing and is worth knowing."""
    trace: Mapping[str, Any] = field(default_factory=dict)

    def is_of_another_version(self, fingerprint: str) -> bool:
        """Whether it is known to be made for another problem than the one with this fingerprint."""
        return self.problem_fingerprint not in ("", fingerprint)

    @property
    def goals(self) -> tuple[Mapping[str, float], ...]:
        """What was minimised, level by level; empty where that is not known."""
        levels = (self.goal,) if isinstance(self.goal, Mapping) else self.goal
        return tuple(level for level in levels if level)

    @property
    def first_goal(self) -> Mapping[str, float]:
        """What was minimised before all else."""
        return self.goals[0] if self.goals else {}

    @property
    def found(self) -> bool:
        """Whether there is a plan at all."""
        return bool(self.assignment)
