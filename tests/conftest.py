"""What all tests share: one Spark session, started by the first test that asks for it."""

from __future__ import annotations

import os
import re
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


COMPILED = {
    "many": r"policies/(many|forest)|test_many|test_forest|experiments/many",
    "two-stage": r"mips|two_stage|heron|ffd|best_fit|packing|filling_cluster|the_cluster_that_fills",
    "bounded": r"latency_bound|test_candidates",
    "auto": r"test_auto",
    "simulate": r"/simulate/|experiments/odp",
    "exact": r"exact/",
    "space": r"/space/|mopa|sbon|coordinates|latency_space|large_network",
}
"""Which tests compile the same loops, by their names."""

# The same examples in every run: what passes here passes there. HYPOTHESIS_PROFILE=default draws new ones.
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever uses the session is a Spark test, said or not: the fast run never starts one.

    Tests of one set of compiled loops run in one process: two would compile the same at the same time. The
    fast run leaves them out, too: compiling takes longer than the tests themselves.
    """
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        group = next((name for name, pattern in COMPILED.items() if re.search(pattern, item.nodeid)), None)
        if group is not None:
            item.add_marker(pytest.mark.xdist_group(group))
            item.add_marker("compiled")


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session of the whole run; it is active, so that commands called in this process use it, too."""
    from berth.spark import spark_session

    with spark_session("local[2]", name="berth tests", settings=SETTINGS) as session:
        yield session
