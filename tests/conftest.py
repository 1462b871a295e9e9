"""What all tests share: one Spark session, started by the first test that asks for it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from berth.spark import SparkSession

SETTINGS = {
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    # many small plans once each: a compiler that is quick itself is quicker than good code
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}

# The same examples in every run: what passes here passes there. HYPOTHESIS_PROFILE=default draws new ones.
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # Tests that run in the background ignore Ctrl-C, and so would all commands that they start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever uses the session is a Spark test, said or not: the fast run never starts one."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session of the whole run; it is active, so that commands called in this process use it, too."""
    from berth.spark import spark_session

    with spark_session("local[2]", name="berth tests", settings=SETTINGS) as session:
        yield session
