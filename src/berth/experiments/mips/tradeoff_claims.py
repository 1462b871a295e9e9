"""What paper 001 says of its figure 4."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from berth.experiments.experiment import Claim
from berth.experiments.judging import verdict
from berth.experiments.mips.judging import percent, reduction

ALPHA, SAMPLES = "alpha", "samples"
NOTABLY = 5.0
"""A change by so many percent is one that a figure shows clearly."""
CONVERGED = 1.0
NAMES = {
    "containers": "container use",
    "traffic": "cross-container traffic",
    "server_cost": "cross-server traffic",
}


def alpha_claims(table: pd.DataFrame, form: str) -> Iterator[Claim]:
    """From alpha 0 to alpha 1."""
    part = _part(table, ALPHA, form)
    where = f"(search {form})"
    rise = reduction(part["containers", 0.0], part["containers", 1.0])
    yield Claim(
        f"Container use rises gently with alpha {where}",
        "-",
        f"{part['containers', 0.0].mean():.2f} at 0 is {percent(rise)} below "
        f"{part['containers', 1.0].mean():.2f} at 1; {len(part)} repeats",
        verdict(rise.value <= 2 * NOTABLY, rise.surely_positive),
        f"Rule: higher at 1 beyond chance, by at most {2 * NOTABLY:g} %; the order: higher beyond chance",
    )
    for name, word in (("traffic", "notably"), ("server_cost", "as well")):
        fall = reduction(part[name, 1.0], part[name, 0.0])
        least = NOTABLY if name == "traffic" else 0.0
        yield Claim(
            f"{NAMES[name].capitalize()} falls {word} with alpha {where}",
            "-",
            f"{part[name, 1.0].mean():.1f} at 1 is {percent(fall)} below {part[name, 0.0].mean():.1f} at 0; "
            f"{len(part)} repeats",
            verdict(fall.value >= least, fall.surely_positive),
            "Rule: lower at 1 beyond "
            f"chance{f', by {least:g} % or more; the order: lower' if least else ''}. "
            "Of maps with as few containers the corrected search takes that with the least traffic, "
            "even at alpha = 0, which leaves less to gain",
        )


def sample_claims(table: pd.DataFrame, form: str) -> Iterator[Claim]:
    """1, 500, 1000 and 1500 samples."""
    part = _part(table, SAMPLES, form)
    where = f"(search {form})"
    for name in ("containers", "traffic"):
        fall = reduction(part[name, 500.0], part[name, 1.0])
        yield Claim(
            f"From the fewest samples to 500 there is a significant reduction in {NAMES[name]} {where}",
            "-",
            f"{part[name, 1.0].mean():.2f} with 1 sample, {part[name, 500.0].mean():.2f} with 500: "
            f"{percent(fall)} less; {len(part)} repeats",
            verdict(fall.surely_positive and fall.value >= NOTABLY, fall.surely_positive),
            f"Rule: lower beyond chance, by {NOTABLY:g} % or more; the order: lower beyond chance. Even one "
            "sample a decision follows the preferred policy, which is near the best already",
        )
    early = {name: reduction(part[name, 500.0], part[name, 1.0]) for name in NAMES}
    late = {name: reduction(part[name, 1500.0], part[name, 500.0]) for name in NAMES}
    fades = all(late[name].value < early[name].value for name in NAMES)
    yield Claim(
        f"Beyond 500 samples the improvement fades {where}",
        "-",
        "; ".join(
            f"{NAMES[name]}: {percent(early[name])} up to 500, {percent(late[name])} beyond" for name in NAMES
        ),
        verdict(fades and all(late[name].value < early[name].value / 4 for name in NAMES), fades),
        "Rule: all three improve from 500 to 1500 by less than a quarter of what they did up to 500; the "
        "order: by less",
    )
    last = {name: reduction(part[name, 1500.0], part[name, 1000.0]) for name in NAMES}
    highest = max(abs(value.value) for value in last.values())
    yield Claim(
        f"Container use, cross-container and cross-server traffic converge at around 1000 samples {where}",
        "about 1000 samples",
        "from 1000 to 1500: "
        + ", ".join(f"{NAMES[name]} {percent(value)} less" for name, value in last.items()),
        verdict(highest <= CONVERGED, highest <= 2 * CONVERGED),
        f"Rule: none changes by more than {CONVERGED:g} % from 1000 to 1500; the order: {2 * CONVERGED:g} %",
    )


def _part(table: pd.DataFrame, varied: str, form: str) -> pd.DataFrame:
    """Columns by figure and value, of the repeats in which nothing failed."""
    part = table[(table["varied"] == varied) & (table["form"] == form)]
    whole = part[~part.groupby("repeat")["failed"].transform("any")]
    return whole.pivot(index="repeat", columns="value", values=list(NAMES))
