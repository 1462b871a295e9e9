"""Options that the commands on Spark share, and the session that they ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from berth.model import BadInput

if TYPE_CHECKING:
    from berth.spark import SparkSession

Master = Annotated[
    str | None,
    typer.Option(
        help="Where Spark runs: local[2], spark://host:7077, yarn, ... "
        "Default: what spark-defaults.conf says, else local[*], all processors of this machine.",
        metavar="URL",
        envvar="BERTH_MASTER",
    ),
]
Configuration = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        help="A setting of Spark, such as spark.driver.memory=8g. Can be repeated.",
        metavar="KEY=VALUE",
    ),
]


@contextmanager
def session_for(master: str | None, configuration: list[str] | None, name: str) -> Iterator[SparkSession]:
    """The Spark session that `--master` and `--conf` ask for, stopped at the end of the `with` block.

    pyspark is imported here and not before: commands without Spark don't wait for it.
    """
    settings = spark_settings_from(configuration)
    from berth.spark import spark_session

    with spark_session(master or None, name=name, settings=settings) as session:
        yield session


def spark_settings_from(items: list[str] | None) -> dict[str, str]:
    """`--conf key=value` options as a mapping; the last one of a key counts."""
    settings = {}
    mistakes = []
    for item in items or []:
        key, equals, value = item.partition("=")
        key = key.strip()
        if not equals or not key:
            mistakes.append(f"--conf {item}: expected key=value")
        elif not key.startswith("spark."):
            mistakes.append(f"--conf {item}: the keys of Spark's settings start with 'spark.'")
        elif key == "spark.master":
            mistakes.append(f"--conf {item}: use --master for this")
        settings[key] = value.strip()
    if mistakes:
        raise BadInput(mistakes)
    return settings
