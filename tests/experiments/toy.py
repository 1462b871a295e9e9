"""A toy: how far the mean of some random numbers is from a half. Its runs can be told to go wrong."""

import os
import signal
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from berth.experiments.experiment import Calibration, Claim, Experiment, Row, Run, Setting, Verdict, columns


def runs(setting: Setting) -> Iterable[Run]:
    count = 3 if setting.quick else 10
    return [Run(f"run-{number}", {"numbers": number}, number == 10) for number in range(1, count + 1)]


def rows(run: Run, setting: Setting) -> Iterable[Row]:
    numbers = run.parameters["numbers"]
    _go_wrong(setting.data, run.key)
    rng = np.random.default_rng([setting.seed, numbers])
    return [{"numbers": numbers, "mean": rng.random(numbers).mean()}]


def claims(table: pd.DataFrame, setting: Setting) -> Sequence[Claim]:
    mean = table["mean"].mean()
    verdict = Verdict.REPRODUCED if abs(mean - 0.5) < 0.3 else Verdict.NOT_REPRODUCED
    return [
        Claim("The mean is a half", "0.5", f"{mean:.3f}, {len(table)} runs", verdict, "within 0.3"),
        Claim("Pigs <b>fly</b>", "-", "-", Verdict.NOT_REPRODUCED, "none was seen"),
    ]


def draw(table: pd.DataFrame, figure: Figure, setting: Setting) -> str:
    axes = figure.subplots()
    axes.plot(table["numbers"], table["mean"], marker="o")
    axes.set(xlabel="numbers drawn", ylabel="mean (no unit)")
    return f"Means over {len(table)} runs, on no network at all & <so>."


def _go_wrong(data: Path | None, key: str) -> None:
    """As a folder in the data says: `raise` or `die` at some runs."""
    wish = None if data is None else data / key
    if wish is None or not wish.exists():
        return
    match wish.read_text():
        case "raise":
            raise ValueError("told to <fail>")
        case "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "wrong columns":
            raise KeyError("columns")


EXPERIMENT = Experiment(
    name="X9.1",
    paper="009, <Toy> & Sons, figure 1",
    title="Means of few & many <numbers>",
    about="A toy: how far the mean of some random numbers is from a half. Its runs can be told to go wrong.",
    schema=columns("numbers long, mean float"),
    runs=runs,
    rows=rows,
    claims=claims,
    draw=draw,
    calibrations=(Calibration("numbers <n>", "1 to 10", "nothing"),),
)
