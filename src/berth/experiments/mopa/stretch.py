"""X3.1: network usage of MOPA and SBON against the optimum (paper 003, figure 2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import BooleanType, DoubleType, IntegerType, StringType, StructField, StructType

import berth
from berth.experiments.draws import named_generator
from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting
from berth.experiments.mopa.cumulative import COLOURS, cumulative, finish
from berth.experiments.mopa.graphs import drawn_network, operator_graph
from berth.experiments.mopa.stretch_claims import stretch_claims
from berth.experiments.networks import ABOUT, CLOUDS, IOT_LAB, SYNTHETIC, is_there, papers_network

POLICIES: dict[str, tuple[str, dict[str, Any]]] = {
    "MOPA": ("mopa", {"refine": False}),
    "SBON": ("sbon", {}),
    "MOPA, refined": ("mopa", {}),
}
"""As in the paper, and MOPA with the step that berth adds: some near nodes are tried by measured delays."""


class Stretch:
    """Small graphs on many draws of nodes; each is also solved by the exhaustive search."""

    name = "X3.1"
    paper = "003, MOPA (Rizou, Dürr, Rothermel 2010), figure 2"
    title = "Network usage against the optimum"
    schema = StructType(
        [
            StructField("network", StringType()),
            StructField("draw", IntegerType()),
            StructField("graph", IntegerType()),
            StructField("policy", StringType()),
            StructField("stretch", DoubleType()),
            StructField("failed", BooleanType()),
            StructField("coordinate_error_ms", DoubleType()),
        ]
    )
    calibrations = (
        Calibration("draws of nodes", "20 times 226 of 490 nodes, 50 graphs each", "nothing"),
        Calibration("coordinates", "Vivaldi in 3 dimensions, no height, refined", "nothing"),
        Calibration("SBON's step", "0.1 x force / highest sum of rates", "nothing"),
        Calibration("SBON at rest", "force / highest sum of rates below 0.5 ms", "nothing"),
        Calibration("operators on a node", "no limit ('overloaded' is not defined)", "nothing"),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """A run is a draw of nodes with some graphs."""
        network = papers_network(setting.data)
        draws, graphs = (8, 30) if setting.quick else (20, 50)
        for draw in range(draws):
            yield _run(network, draw, graphs)
        for further in (CLOUDS, IOT_LAB, SYNTHETIC):
            if further != network and is_there(setting.data, further):
                for draw in range(2 if setting.quick else 8):
                    yield _run(further, draw, 25)

    def rows(self, run: Run, setting: Setting) -> Iterable[Row]:
        """Every policy's usage over the optimum's; without a value where there is no such ratio."""
        chosen = run.parameters
        rng = named_generator(setting.seed, run.key)
        network = drawn_network(setting.data, chosen["network"], rng)
        for graph in range(chosen["graphs"]):
            problem = operator_graph(network, 6, rng)
            least = berth.solve(problem, "mop-exhaustive").objective
            for name, (policy, parameters) in POLICIES.items():
                plan = berth.solve(problem, policy, **parameters)
                usage = plan.metrics.get("network_usage_bytes")
                failed = usage is None or bool(plan.violations) or not least
                yield {
                    "network": chosen["network"],
                    "draw": chosen["draw"],
                    "graph": graph,
                    "policy": name,
                    "stretch": None if usage is None or failed or least is None else usage / least,
                    "failed": failed,
                    "coordinate_error_ms": plan.trace["coordinate_errors"]["absolute_mean_ms"],
                }

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Means, quantiles and worst cases."""
        return stretch_claims(table, papers_network(setting.data))

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """The paper's figure, and the same on other networks."""
        network = papers_network(setting.data)
        others = [name for name in table["network"].unique() if name != network]
        figure.set_size_inches(9, 7.5)
        grid = figure.add_gridspec(2, max(1, len(others)), height_ratios=(3, 2))
        for place, name in [(grid[0, :], network), *((grid[1, k], name) for k, name in enumerate(others))]:
            axes = figure.add_subplot(place)
            part = table[(table["network"] == name) & ~table["failed"]]
            for policy in POLICIES:
                found = part.loc[part["policy"] == policy, "stretch"]
                if len(found):
                    label = f"{policy}: mean {found.mean():.2f}, highest {found.max():.2f}"
                    cumulative(axes, found, label if name == network else policy, COLOURS[policy])
            axes.set_xlim(1, 2.5 if name == network else 3)
            finish(axes, f"{name}, {len(part) // len(POLICIES)} graphs", "usage / least usage")
        failed = int(table["failed"].sum())
        more = f" Below: {', '.join(others)}." if others else ""
        return (
            "Cumulative distribution of the physical stretch: network usage by measured delays over that of "
            "the "
            f"exhaustive optimum, graphs of 6 operators; above: {ABOUT[network]}.{more} {failed} of "
            f"{len(table)} plans failed and are left out; the axes end before the highest values. 'Refined' "
            "is "
            "berth's own addition to MOPA."
        )


def _run(network: str, draw: int, graphs: int) -> Run:
    return Run(f"{network}/{draw}", {"network": network, "draw": draw, "graphs": graphs})


EXPERIMENT = Stretch()
