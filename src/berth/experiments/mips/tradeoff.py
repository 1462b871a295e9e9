"""X1.2: MIPS over alpha and over the number of samples (paper 001, figure 4).

The tree search weighs traffic against the number of containers by a factor alpha, and gets better with more
samples. Both are varied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Row, Run, Setting, columns
from berth.experiments.judging import verdict
from berth.experiments.mips.requests import (
    COMMON,
    FAT_TREE,
    FORMS,
    LABELS,
    curve,
    percent,
    placed,
    reduction,
    requested,
    standard_error,
)

ALPHA, SAMPLES = "alpha", "samples"
VALUES: dict[str, tuple[float, ...]] = {
    ALPHA: (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    SAMPLES: (1, 10, 50, 100, 250, 500, 1000, 1500),
}
QUICK_VALUES: dict[str, tuple[float, ...]] = {
    ALPHA: (0.0, 0.3, 0.7, 1.0),
    SAMPLES: (1, 50, 500, 1000, 1500),
}
REPEATS, QUICK_REPEATS, BLOCK = 100, 10, 10
NOTABLY = 5.0
"""A change by so many percent is one that a figure shows clearly."""
CONVERGED = 1.0
NAMES = {
    "containers": "container use",
    "traffic": "cross-container traffic",
    "server_cost": "cross-server traffic",
}


class Tradeoff:
    """One parameter of MIPS is varied, on the same requests."""

    name = "X1.2"
    paper = "001 (MIPS), section V-B, figure 4"
    title = "MIPS: weight of traffic and number of samples"
    schema = columns(
        varied=str,
        form=str,
        value=float,
        repeat=int,
        failed=bool,
        traffic=float,
        containers=float,
        server_cost=float,
    )
    calibrations = (
        *COMMON,
        Calibration("least number of samples (E1.10)", "1, for the paper's 0", "nothing"),
        Calibration("samples while alpha is varied", "500, as in the paper's figure 3", "nothing"),
    )

    def runs(self, setting: Setting) -> Iterable[Run]:
        """A run is some requests with one value."""
        repeats = QUICK_REPEATS if setting.quick else REPEATS
        for varied, values in (QUICK_VALUES if setting.quick else VALUES).items():
            for form in FORMS:
                for value in values:
                    for first in range(0, repeats, BLOCK):
                        yield Run(
                            f"{varied}/{form}/{value:g}/{first}",
                            {"varied": varied, "form": form, "value": value, "first": first},
                        )

    def rows(self, run: Run, setting: Setting) -> Iterator[Row]:
        """What the judge says of every plan."""
        varied, form, value = (run.parameters[name] for name in ("varied", "form", "value"))
        given = {**FORMS[form], varied: int(value) if varied == SAMPLES else float(value)}
        for repeat in range(run.parameters["first"], run.parameters["first"] + BLOCK):
            problem = requested(FAT_TREE, setting.seed, repeat)
            common = {"varied": varied, "form": form, "value": float(value), "repeat": repeat}
            yield {**common, **placed(problem, "mips", given, repeat)}

    def claims(self, table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
        """Both parts of the prose, for both forms of the search."""
        return [
            *(claim for form in FORMS for claim in alpha_claims(table, form)),
            *(claim for form in FORMS for claim in sample_claims(table, form)),
        ]

    def draw(self, table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
        """A row for alpha and one for samples."""
        figure.set_size_inches(10, 6.5)
        figure.set_layout_engine("constrained")
        panels = figure.subplots(2, len(LABELS))
        labels = {ALPHA: "alpha (0: fewest containers, 1: least traffic)", SAMPLES: "samples a decision"}
        for row, (varied, label) in zip(panels, labels.items(), strict=True):
            part = table[table["varied"] == varied]
            for axes, name in zip(row, LABELS, strict=True):
                curve(axes, part, "value", name, standard_error)
                axes.set_xlabel(label, fontsize=8)
        panels[0][0].legend(fontsize=8)
        repeats = table["repeat"].nunique()
        return (
            f"Means and standard errors over {repeats} repeats, each a random request on a synthetic "
            "Fat-Tree of 16 servers; below, alpha is 0.5. 'Corrected' is the search with its errata repaired "
            "and costs normalised, without local steps; 'as printed' has raw costs and keeps only the map "
            f"that it committed to. {int(table['failed'].sum())} of {len(table)} plans failed and are left "
            "out."
        )


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


EXPERIMENT = Tradeoff()
