"""`--conf` and its mistakes."""

import pytest

from berth.cli.options import spark_settings_from
from berth.model import BadInput


def test_settings() -> None:
    """A value may hold further signs of equality; the last setting of a key counts."""
    given = ["spark.a=1", "spark.b=-Dx=y", "spark.a=2"]
    assert spark_settings_from(given) == {"spark.a": "2", "spark.b": "-Dx=y"}
    assert spark_settings_from(None) == {}


@pytest.mark.parametrize(
    ("item", "line"),
    [
        ("spark.a", "--conf spark.a: expected key=value"),
        ("=1", "--conf =1: expected key=value"),
        ("driver.memory=1g", "--conf driver.memory=1g: the keys of Spark's settings start with 'spark.'"),
        ("spark.master=yarn", "--conf spark.master=yarn: use --master for this"),
    ],
)
def test_wrong_settings(item: str, line: str) -> None:
    """The line names the option and what was given."""
    with pytest.raises(BadInput) as refused:
        spark_settings_from(["spark.fine=1", item])
    assert refused.value.mistakes == (line,)
