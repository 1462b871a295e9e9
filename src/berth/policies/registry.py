"""All policies by name. A new one of berth's own is a line in `BUILT_IN`; others come by entry points."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, cast

from berth.model import BadInput
from berth.model.errors import did_you_mean
from berth.model.parameters import described
from berth.policies.policy import Policy

BUILT_IN = {
    "auto": "berth.policies.auto:Auto",
    "bottom-up-bfs": "berth.policies.sharing.heuristics:BOTTOM_UP_BFS",
    "bottom-up-dfs": "berth.policies.sharing.heuristics:BOTTOM_UP_DFS",
    "bw-max": "berth.policies.sharing.exact:BW_MAX",
    "bw-sum": "berth.policies.sharing.exact:BW_SUM",
    "ffd": "berth.policies.two_stage.policies:Ffd",
    "forest": "berth.policies.sharing.forest:Forest",
    "latency-bound": "berth.policies.latency_bound.policy:LatencyBound",
    "mips": "berth.policies.two_stage.policies:Mips",
    "mop-exhaustive": "berth.policies.latency_space.mop_exhaustive:MopExhaustive",
    "mopa": "berth.policies.latency_space.mopa:Mopa",
    "odp": "berth.policies.odp:Odp",
    "proc-nb": "berth.policies.sharing.exact:PROC_NB",
    "proc-power": "berth.policies.sharing.exact:PROC_POWER",
    "r-heron": "berth.policies.two_stage.policies:RHeron",
    "random": "berth.policies.sharing.heuristics:RANDOM",
    "random-no-reuse": "berth.policies.sharing.heuristics:RANDOM_NO_REUSE",
    "round-robin": "berth.policies.round_robin:RoundRobin",
    "s-odp": "berth.policies.s_odp:SchedulerOdp",
    "sbon": "berth.policies.latency_space.sbon:Sbon",
    "search": "berth.policies.search:Search",
    "t-heron": "berth.policies.two_stage.policies:THeron",
    "t-storm": "berth.policies.t_storm:TStorm",
    "top-down-bfs": "berth.policies.sharing.heuristics:TOP_DOWN_BFS",
    "top-down-dfs": "berth.policies.sharing.heuristics:TOP_DOWN_DFS",
    "two-stage-exact": "berth.policies.two_stage.two_stage_exact:TwoStageExact",
}
DEFAULT = "auto"
GROUP = "berth.policies"


def policy_names() -> list[str]:
    """The names of all policies there are, berth's own first."""
    others = sorted(point.name for point in entry_points(group=GROUP) if point.name not in BUILT_IN)
    return [*BUILT_IN, *others]


def find_policy(name: str) -> Policy:
    """The policy of that name.

    Raises:
        BadInput: there is none, or it can't be loaded.
    """
    if name in BUILT_IN:
        module, attribute = BUILT_IN[name].split(":")
        return _made(getattr(import_module(module), attribute))
    for point in entry_points(group=GROUP):
        if point.name == name:
            return _loaded(name, point.load)
    raise BadInput([f"--policy: no policy {did_you_mean(name, policy_names())}; 'berth policies' lists them"])


def _made(found: object) -> Policy:
    """A policy, from itself or from its class."""
    return cast(Policy, found() if isinstance(found, type) else found)


def _loaded(name: str, load: object) -> Policy:
    try:
        policy = _made(load())  # type: ignore[operator]
    except Exception as error:
        raise BadInput([f"--policy: {name} can't be loaded: {type(error).__name__}: {error}"]) from error
    if not all(hasattr(policy, part) for part in ("about", "parameters", "solve")):
        raise BadInput([f"--policy: {name} is no policy: it lacks about, parameters or solve"])
    return policy


def policy_documents() -> list[dict[str, Any]]:
    """What people should know of every policy, with its parameters and their defaults."""
    return [
        {
            "name": policy.about.name,
            "paper": policy.about.paper,
            "optimises": policy.about.optimises,
            "holds": policy.about.holds,
            "parameters": described(policy.parameters),
        }
        for policy in map(find_policy, policy_names())
    ]
