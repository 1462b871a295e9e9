"""X1.2 and X1.3: MIPS over alpha, the number of samples and the weight of exploration (paper 001)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Experiment, Row, Run, Setting, columns
from berth.experiments.judging import holds, mean_of, verdict
from berth.experiments.mips.schemes import (
    COMMON,
    CORRECTED,
    FAT_TREE,
    FORMS,
    PRINTED,
    percent,
    placed,
    reduction,
    requested,
)

LABELS = {
    "containers": "containers used U",
    "traffic": "traffic between containers T, B/s",
    "server_cost": "traffic x hops between servers W, B/s",
}
NAMES = {
    "containers": "container use",
    "traffic": "cross-container traffic",
    "server_cost": "cross-server traffic",
}
STYLES = {CORRECTED: ("#1f5fa8", "o"), PRINTED: ("#c8452e", "s")}

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
DEFAULT = 2.0**0.5
WEIGHTS = (0.0, 0.5, 1.0, DEFAULT, 2.0, 5.0, 10.0, 15.0, 20.0)
QUICK_WEIGHTS = (0.0, DEFAULT, 5.0, 20.0)
REQUESTS, SEARCHES = 20, 5
QUICK_REQUESTS, QUICK_SEARCHES = 8, 3
REQUEST_BLOCK = 2
"""Requests of one run."""
SAME_LEVEL, NEARLY = 5.0, 10.0
MIDDLE = (1.0, 5.0)
"""Weights that are neither unduly exploitative nor explorative; the usual one is sqrt(2)."""


def curve(axes: Axes, table: pd.DataFrame, parameter: str, figure: str) -> None:
    """Means over a parameter for each form, with their standard errors."""
    for form, part in table[~table["failed"]].groupby("form", sort=False):
        groups = part.groupby(parameter)[figure]
        _points(axes, str(form), groups.mean(), groups.sem(), str(form))
    _finish(axes, LABELS[figure])


def _points(axes: Axes, form: str, means: pd.Series, errors: pd.Series, label: str | None = None) -> None:
    colour, marker = STYLES[form]
    axes.errorbar(
        means.index, means, yerr=errors, label=label, color=colour, marker=marker, markersize=4, capsize=2
    )


def _finish(axes: Axes, label: str) -> None:
    axes.set_ylabel(label, fontsize=8)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)


def tradeoff_runs(setting: Setting) -> Iterable[Run]:
    """A run is some requests with one value."""
    repeats = QUICK_REPEATS if setting.quick else REPEATS
    for varied, values in (QUICK_VALUES if setting.quick else VALUES).items():
        for form, value, first in product(FORMS, values, range(0, repeats, BLOCK)):
            yield Run.of(
                "{varied}/{form}/{value:g}/{first}", varied=varied, form=form, value=value, first=first
            )


def tradeoff_rows(run: Run, setting: Setting) -> Iterator[Row]:
    """What the judge says of every plan."""
    varied, form, value = (run.parameters[name] for name in ("varied", "form", "value"))
    given = {**FORMS[form], varied: int(value) if varied == SAMPLES else float(value)}
    for repeat in range(run.parameters["first"], run.parameters["first"] + BLOCK):
        problem = requested(FAT_TREE, setting.seed, repeat)
        common = {"varied": varied, "form": form, "value": float(value), "repeat": repeat}
        yield {**common, **placed(problem, "mips", given, repeat)}


def tradeoff_claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """Both parts of the prose, for both forms of the search."""
    return [
        *(claim for form in FORMS for claim in alpha_claims(table, form)),
        *(claim for form in FORMS for claim in sample_claims(table, form)),
    ]


def draw_tradeoff(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """A row for alpha and one for samples."""
    figure.set_size_inches(10, 6.5)
    panels = figure.subplots(2, len(LABELS))
    labels = {ALPHA: "alpha (0: fewest containers, 1: least traffic)", SAMPLES: "samples a decision"}
    for row, (varied, label) in zip(panels, labels.items(), strict=True):
        part = table[table["varied"] == varied]
        for axes, name in zip(row, LABELS, strict=True):
            curve(axes, part, "value", name)
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


def exploration_runs(setting: Setting) -> Iterable[Run]:
    """A run is some requests with one weight."""
    weights, requests = (QUICK_WEIGHTS, QUICK_REQUESTS) if setting.quick else (WEIGHTS, REQUESTS)
    for form, weight, first in product(FORMS, weights, range(0, requests, REQUEST_BLOCK)):
        yield Run.of("{form}/{weight:.3g}/{first}", form=form, weight=weight, first=first)


def exploration_rows(run: Run, setting: Setting) -> Iterator[Row]:
    """What the judge says of every plan."""
    form, weight, first = (run.parameters[name] for name in ("form", "weight", "first"))
    repeats = QUICK_SEARCHES if setting.quick else SEARCHES
    for request in range(first, first + REQUEST_BLOCK):
        problem = requested(FAT_TREE, setting.seed, request)
        for repeat in range(repeats):
            chance = request * repeats + repeat
            yield {
                "form": form,
                "exploration": weight,
                "request": request,
                "repeat": repeat,
                **placed(problem, "mips", {**FORMS[form], "exploration": weight}, chance),
            }


def exploration_claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    """Means and spread, for both forms of the search."""
    return [claim for form in FORMS for claim in _on_exploration(table, form)]


def draw_exploration(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    """Means above, spread among repeats below."""
    figure.set_size_inches(10, 6.5)
    panels = figure.subplots(2, len(LABELS))
    for (above, below), name in zip(panels.T, LABELS, strict=True):
        curve(above, table, "exploration", name)
        above.set_ylim(0, None)
        for form in STYLES:
            spread = relative_spread(table, form, name)
            _points(below, form, spread.mean(axis=0), spread.sem(axis=0))
        _finish(below, "spread among repeats,\n% of the mean")
        below.set_xlabel("weight of exploration ω", fontsize=8)
        below.set_ylim(0, None)
    panels[0][0].legend(fontsize=8)
    requests, repeats = table["request"].nunique(), table["repeat"].nunique()
    return (
        f"Above: means and standard errors. Below: the standard deviation among {repeats} searches of "
        f"the same request, the mean over {requests} requests with its standard error. A synthetic "
        "Fat-Tree of 16 servers, alpha 0.5, 500 samples. 'Corrected': costs between 0 and 1; 'as "
        "printed': raw costs. "
        f"{int(table['failed'].sum())} of {len(table)} plans failed and are left out."
    )


def _on_exploration(table: pd.DataFrame, form: str) -> Iterator[Claim]:
    """Flat means, and more spread at both ends."""
    part = table[(table["form"] == form) & ~table["failed"]]
    means = part.groupby("exploration")[list(NAMES)].mean()
    ranges = 100.0 * (means.max() - means.min()) / means.mean()
    weights = f"{len(means)} weights from {means.index.min():g} to {means.index.max():g}"
    yield Claim(
        f"Costs stay at the same level for weights of exploration from 0 to 20 (search {form})",
        "roughly the same level",
        "highest less lowest mean, of the mean: "
        + ", ".join(f"{NAMES[name]} {value:.1f} %" for name, value in ranges.items())
        + f"; {weights}, {len(part) // max(len(means), 1)} plans each",
        verdict(float(ranges.max()) <= SAME_LEVEL, float(ranges.max()) <= NEARLY),
        f"Rule: none of the three varies by more than {SAME_LEVEL:g} %; the order: {NEARLY:g} %. As printed, "
        "the search weighs exploration against raw costs; corrected, against costs from 0 to 1 (E1.9)",
    )
    spreads = {name: relative_spread(table, form, name) for name in NAMES}
    for weight, end in ((means.index.min(), "no"), (means.index.max(), "the most")):
        gaps = {name: spread[weight] - _middle(spread) for name, spread in spreads.items()}
        whole = mean_of(sum(gaps.values()) / len(gaps))
        yield Claim(
            f"Results vary more among repeats with {end} exploration than with some (search {form})",
            "-",
            f"spread at {weight:g} less that from {MIDDLE[0]:g} to {MIDDLE[1]:g}, in points of the mean: "
            f"{whole.value:+.2f} ± {whole.error:.2f} for all three; "
            + ", ".join(f"{NAMES[name]} {gap.mean():+.2f}" for name, gap in gaps.items())
            + f"; {whole.draws} requests",
            holds(whole.surely_positive),
            "Rule: the standard deviation among searches of the same request, in % of their mean, is higher "
            "beyond chance (two standard errors). Where searches all find the best map, nothing varies",
        )


def relative_spread(table: pd.DataFrame, form: str, name: str) -> pd.DataFrame:
    """By request and weight: the standard deviation among repeats in percent of their mean."""
    part = table[(table["form"] == form) & ~table["failed"]]
    groups = part.groupby(["request", "exploration"])[name]
    return (100.0 * groups.std() / groups.mean()).unstack().fillna(0.0)


def _middle(spread: pd.DataFrame) -> pd.Series:
    low, high = MIDDLE
    return spread[[weight for weight in spread if low <= weight <= high]].mean(axis=1)


TRADEOFF = Experiment(
    name="X1.2",
    paper="001 (MIPS), section V-B, figure 4",
    title="MIPS: weight of traffic and number of samples",
    about="The tree search weighs traffic against the number of containers by a factor alpha, and gets "
    "better with more samples. Both are varied.",
    schema=columns(
        "varied str, form str, value float, repeat int, failed bool, traffic float, containers float, "
        "server_cost float"
    ),
    runs=tradeoff_runs,
    rows=tradeoff_rows,
    claims=tradeoff_claims,
    draw=draw_tradeoff,
    calibrations=(
        *COMMON,
        Calibration("least number of samples (E1.10)", "1, for the paper's 0"),
        Calibration("samples while alpha is varied", "500, as in the paper's figure 3"),
    ),
)
EXPLORATION = Experiment(
    name="X1.3",
    paper="001 (MIPS), section V-B, figure 5",
    title="MIPS: weight of exploration",
    about="How much the tree search tries what it knows little about is set by a factor omega. It is varied.",
    schema=columns(
        "form str, exploration float, request int, repeat int, failed bool, traffic float, containers "
        "float, server_cost float"
    ),
    runs=exploration_runs,
    rows=exploration_rows,
    claims=exploration_claims,
    draw=draw_exploration,
    calibrations=(
        *COMMON[:-1],
        Calibration("the paper's 100 repeats", "20 requests, each searched 5 times with other chance"),
    ),
)
