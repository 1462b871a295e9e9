"""What a feed is: one kind of telemetry, with everything that berth knows about it in one object.

A feed says what its records look like and which of them make sense, which columns of which tables they
measure, what these change in the problem, and how synthetic records are made. Reading, judging, summing up,
following, the quarantine and `berth sample-telemetry` all work from that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession

from berth.model import Problem
from berth.pipeline.feeds.changes import Changes
from berth.pipeline.feeds.flows import Flows
from berth.pipeline.feeds.sampling import Fault, Randomness, Sample
from berth.pipeline.options import IngestOptions
from berth.pipeline.storage import empty_table

Kind = Literal["time", "name", "number", "flag"]
Named = Literal["node", "application", "operator", "instance", "stream"]

SPARK_TYPES: dict[Kind, str] = {"time": "bigint", "name": "string", "number": "double", "flag": "boolean"}
EXPECTED: dict[Kind, str] = {
    "time": "no ISO 8601 time and no epoch milliseconds",
    "name": "no text",
    "number": "no number",
    "flag": "neither true nor false",
}
DAY_MS = 86_400_000.0
SMALLEST = 1e-3
"""Of a number that can't be 0."""

TABLE_KEYS = {
    "links": ("from", "to"),
    "nodes": ("node",),
    "operators": ("application", "operator"),
    "streams": ("application", "from", "to"),
}
"""The tables that feeds fill, and what a row of each is about."""


@dataclass(frozen=True)
class Field:
    """A field of a record."""

    name: str
    kind: Kind
    of: Named | None = None
    """What a name is the name of."""
    most: float = float("inf")
    """The largest number that makes sense."""
    zero: bool = True
    """Whether 0 makes sense."""
    optional: bool = False
    """Whether a record may be without it."""
    whole: bool = False
    """Whether it counts something: synthetic records have whole numbers then."""
    level: bool = False
    """Whether a robust level is measured of it and not its sum; one field of a feed at most."""
    fraction: float = 2.0**10
    """Sums round to such fractions first: in doubles, sums of these are exact in any order."""


def known_of(field: Field) -> str:
    """The column of a feed's sums that counts the records with an optional amount."""
    return f"{field.name}_known"


TIME = Field("ts", "time")
"""The time of a record, which comes first in every feed."""


def named(field: str, of: Named) -> Field:
    """A field with the name of something."""
    return Field(field, "name", of)


@dataclass(frozen=True)
class Name:
    """Columns that together name something of the problem."""

    of: Named
    columns: tuple[str, ...]

    @property
    def reason(self) -> str:
        """Why a record with an unknown one makes no sense."""
        return f"{self.columns[-1]}: unknown {self.of}"


@dataclass(frozen=True)
class Rule:
    """A reason why a record makes no sense, although each of its fields does."""

    reason: str
    broken: Callable[[], Column]
    """Whether a record breaks the rule; made when there is a Spark session."""


@dataclass(frozen=True)
class Measure:
    """A column of a table that a feed fills."""

    table: str
    name: str
    update: Callable[[Changes, pd.DataFrame], None] | None = None
    """Puts the newest values (the table's keys and columns `smoothed_x`) into the problem's document."""
    smoothed: bool = True
    """Whether it has a moving average beside it; one that goes into the problem has."""


@dataclass(frozen=True)
class Evidence:
    """All that is known when tables are measured; `close` gives the memory back that shared rows take."""

    session: SparkSession
    problem: Problem
    options: IngestOptions
    sums: Mapping[str, DataFrame]
    """Of the feeds that have any, by name; those of the windows that are being measured."""
    pieces: DataFrame
    """The times between heartbeats, see `outages.py`."""
    past_intervals: DataFrame
    """Between the heartbeats of nodes, in windows before these."""
    past_references: DataFrame
    """The reference for speeds, in windows before these."""
    _shared: dict[str, DataFrame] = field(default_factory=dict)

    def sums_of(self, feed: Feed) -> DataFrame:
        """A feed's sums; without rows where there are none."""
        return self.sums[feed.name] if feed.name in self.sums else empty_table(self.session, feed.sums_schema)

    def shared(self, title: str, rows: Callable[[], DataFrame]) -> DataFrame:
        """Rows that several tables need: computed once."""
        if title not in self._shared:
            self._shared[title] = rows().persist()
        return self._shared[title]

    def close(self) -> None:
        """Forget what was shared."""
        for rows in self._shared.values():
            rows.unpersist()


class Feed(ABC):
    """One kind of telemetry. Further fields of its records are ignored."""

    name: ClassVar[str]
    """Also that of its folder."""
    fields: ClassVar[tuple[Field, ...]]
    further_names: ClassVar[tuple[Name, ...]] = ()
    """Names besides those that single fields have."""
    value_rules: ClassVar[tuple[Rule, ...]] = ()
    """Of the values of a record."""
    name_rules: ClassVar[tuple[Rule, ...]] = ()
    """Of names and flags alone: these are also the keys of the sums, and judged where each comes once."""
    each_record: ClassVar[tuple[str, ...]] = ()
    """The fields that are needed of every single record, because sums forget the order in time."""
    measures: ClassVar[tuple[Measure, ...]]
    faults: ClassVar[tuple[Fault, ...]] = ()
    """Synthetic records that make no sense, although each of their fields does."""

    @abstractmethod
    def measured(self, evidence: Evidence) -> Mapping[str, DataFrame]:
        """What its records say, by table: rows of `window`, the table's keys and the feed's measures.

        A column `samples` counts the records behind a row.
        """

    @abstractmethod
    def synthetic_records(
        self, session: SparkSession, sample: Sample, lines: DataFrame, random: Randomness
    ) -> DataFrame:
        """Good records as columns named like the fields, each from its number in the column `record` only."""

    def reporters(self, problem: Problem, flows: Flows) -> int:
        """How many things send a record with every report; 0 where its records come otherwise."""
        return 0

    def slots(self, sample: Sample) -> int:
        """How many numbers of records a sample has."""
        return self.reporters(sample.problem, sample.flows) * sample.reports

    def records(self, sample: Sample) -> int:
        """How many of these are records."""
        return self.slots(sample)

    def has_sample(self, problem: Problem) -> bool:
        """Whether the sample of a problem has such records at all."""
        return True

    @property
    def names(self) -> tuple[Name, ...]:
        """All that its records name, in the order in which it is judged."""
        single = tuple(
            Name(item.of, (item.name,) if item.of in ("node", "application") else ("application", item.name))
            for item in self.fields
            if item.of is not None
        )
        return single + self.further_names

    @property
    def name_reasons(self) -> set[str]:
        """Every reason that has to do with names."""
        return {name.reason for name in self.names} | {rule.reason for rule in self.name_rules}

    @property
    def level(self) -> str | None:
        """The field of which a robust level is measured."""
        return next((item.name for item in self.fields if item.level), None)

    @property
    def amounts(self) -> tuple[Field, ...]:
        """The fields that are added up."""
        return tuple(item for item in self.fields if item.kind == "number" and not item.level)

    @property
    def sum_keys(self) -> tuple[str, ...]:
        """What its sums are kept by."""
        keys = (item.name for item in self.fields if item.kind in ("name", "flag"))
        return ("window", *keys, *(("bucket",) if self.level else ()))

    @property
    def sums_schema(self) -> str:
        """The columns of its sums."""
        keys = [
            f"`{item.name}` {SPARK_TYPES[item.kind]}" for item in self.fields if item.kind in ("name", "flag")
        ]
        level = ["n bigint, first_power double, second_power double"] if self.level else []
        return ", ".join(
            ["window bigint", *keys, *(["bucket int"] if self.level else [])]
            + ["records bigint, first bigint, last bigint", *level]
            + [f"{item.name} double" for item in self.amounts]
            + [f"{known_of(item)} bigint" for item in self.amounts if item.optional]
        )
