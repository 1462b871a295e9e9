"""What the judge says of the plan in force, with the rates and delays of the moment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from berth.evaluation import METRIC_BY_KEY, Setting, Situation
from berth.model import Network, Plan, Problem
from berth.model.links import LINK_FIELDS

FloatArray = NDArray[np.float64]

JUDGED = ("response_time_ms", "traffic_bytes_per_s", "network_usage_bytes", "elastic_energy")


def judged(problem: Problem, plan: Plan) -> dict[str, float]:
    """The metrics that a simulation shows beside what it measures; those that are unknown are left out."""
    situation = Situation(Setting(problem), plan)
    values = {key: METRIC_BY_KEY[key].value(situation) for key in JUDGED}
    return {key: value for key, value in values.items() if value is not None}


def with_rates(problem: Problem, stream_bytes_per_s: FloatArray) -> Problem:
    """The problem with other rates of its streams, over all applications."""
    rates = iter(stream_bytes_per_s.tolist())
    applications = tuple(
        replace(
            application,
            streams=tuple(replace(stream, bytes_per_s=next(rates)) for stream in application.streams),
        )
        for application in problem.applications
    )
    return replace(problem, applications=applications)


def with_delays(network: Network, delay_ms: FloatArray) -> Network:
    """A network of direct links with other delays."""
    table = network.table
    fields = {name: np.asarray(getattr(table, name)) for name in LINK_FIELDS}
    return replace(network, links=(), matrices={**fields, "delay_ms": delay_ms})
