"""What an experiment is: independent runs, the claims of its paper, and a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

Row = Mapping[str, Any]
"""A row of results: the names and types of the experiment's `schema`."""


_TYPES = {
    "str": StringType(),
    "int": IntegerType(),
    "long": LongType(),
    "float": DoubleType(),
    "bool": BooleanType(),
    "bytes": BinaryType(),
}


def columns(described: str) -> StructType:
    """The schema of a table from `name type, name type, ...`; every value may be missing."""
    fields = (column.split() for column in described.split(","))
    return StructType([StructField(name, _TYPES[kind]) for name, kind in fields])


@dataclass(frozen=True)
class Setting:
    """How an experiment is run.

    Attributes:
        quick: a small part of the runs, in seconds instead of minutes.
        seed: every random choice of the experiment follows from it.
        data: the folder with measured networks; None: there is none, and synthetic ones are used.
        on_spark: run on Spark for real what an experiment can, beside what it computes.
    """

    quick: bool = False
    seed: int = 0
    data: Path | None = None
    on_spark: bool = False


@dataclass(frozen=True)
class Run:
    """One independent piece of work, of a second or a few; all of it fits into JSON.

    Attributes:
        key: names it among the runs of its experiment, for progress and for going on after a stop.
        parameters: what `Experiment.rows` needs: names, numbers, strings, lists.
        in_driver: it is done beside the driver, when all others are done and no session is left: for runs
            that start an application on Spark themselves.
    """

    key: str
    parameters: Mapping[str, Any]
    in_driver: bool = False

    @classmethod
    def of(cls, key: str, **parameters: Any) -> Run:
        """A run whose key is a pattern of its parameters: `Run.of("{kind}/{draw}", kind="fat", draw=3)`."""
        return cls(key.format(**parameters), parameters)


class Verdict(Enum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    ORDERING_ONLY = "ordering only"
    NOT_REPRODUCED = "not reproduced"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper beside what came out here.

    Attributes:
        text: the claim in one sentence, as a newcomer can read it.
        paper: the paper's value, with its unit; "-" where it says an order only.
        ours: the value seen, with its unit and the number of runs behind it.
        verdict: what became of it, by a rule that was fixed before looking (the reason names the rule).
        reason: why this verdict: the tolerance, or what differs from the paper.
    """

    text: str
    paper: str
    ours: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Calibration:
    """A value that the paper doesn't give and that was chosen so that a figure comes out.

    Attributes:
        parameter: its name.
        value: what was chosen, with its unit.
        tuned_to: the number of the paper that it was tuned to; "nothing" where it is only our choice.
    """

    parameter: str
    value: str
    tuned_to: str = "nothing"


@dataclass(frozen=True)
class Experiment:
    """An experiment: the framework runs it on Spark, stores its rows, judges and draws it.

    Attributes:
        name: such as X3.1.
        paper: the paper and its figure, such as '003, MOPA (Rizou, Dürr, Rothermel 2010), figure 2'.
        title: what it shows, in a few words.
        about: what it is about, for people who have not read the paper.
        schema: the columns of its table; `key` is put in front of them.
        runs: gives all of its runs, in a fixed order; cheap.
        rows: does one run. It happens in some process on some executor: nothing but its arguments is there.
        claims: gives the paper's claims beside the values of a table, in which every run has its rows.
        draw: draws the figure in the form of the paper's, with units on every axis, and gives its caption.
        calibrations: what was chosen here because the paper doesn't say it.
    """

    name: str
    paper: str
    title: str
    about: str
    schema: StructType
    runs: Callable[[Setting], Iterable[Run]]
    rows: Callable[[Run, Setting], Iterable[Row]]
    claims: Callable[[pd.DataFrame, Setting], Sequence[Claim]]
    draw: Callable[[pd.DataFrame, Figure, Setting], str]
    calibrations: Sequence[Calibration] = ()


def named_generator(seed: int, name: str) -> np.random.Generator:
    """The generator of a seed and a name, such as that of a run: other names draw other numbers."""
    return np.random.default_rng([seed % 2**64, crc32(name.encode())])
