"""Which settings a session starts with: ours, those of the user's files, those of the command line."""

from pathlib import Path

import pyspark
import pytest

from berth.model import BadInput
from berth.spark import machine
from berth.spark.settings import PRIVATE_SOCKETS, check_environment, settings_for, spark_defaults


@pytest.fixture
def defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return tmp_path / "spark-defaults.conf"


@pytest.fixture(autouse=True)
def no_spark_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_REMOTE"):
        monkeypatch.delenv(name, raising=False)


def machine_of(gigabytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("berth.spark.settings.memory_bytes", lambda: gigabytes * 2**30)


def test_a_small_machine_and_a_large_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of the memory, as far as the tasks can use it; two partitions for each task at once."""
    machine_of(8, monkeypatch)
    small = settings_for("local[2]", {})
    assert small["spark.driver.memory"] == "2g"
    assert small["spark.driver.maxResultSize"] == "1024m"
    assert small["spark.sql.shuffle.partitions"] == "4"
    machine_of(2, monkeypatch)
    assert settings_for("local[2]", {})["spark.driver.memory"] == "1g"
    machine_of(1024, monkeypatch)
    assert settings_for("local[2]", {})["spark.driver.memory"] == "6g"
    large = settings_for("local[200]", {})
    assert large["spark.driver.memory"] == "204g"
    assert large["spark.sql.shuffle.partitions"] == "400"


def test_a_cluster() -> None:
    """Sizes and addresses are the cluster's business."""
    chosen = settings_for("spark://host:7077", {})
    assert chosen["spark.master"] == "spark://host:7077"
    assert {"spark.driver.memory", "spark.driver.host", "spark.sql.shuffle.partitions"}.isdisjoint(chosen)
    assert PRIVATE_SOCKETS not in chosen
    assert int(chosen["spark.sql.adaptive.coalescePartitions.initialPartitionNum"]) >= 400


def test_the_users_defaults_come_before_ours(defaults: Path) -> None:
    """What results need stays; the command line comes before everything."""
    defaults.write_text(
        "# a comment\n\nspark.master   local[7]\nspark.ui.enabled=true\nspark.driver.memory: 3g\n"
        "spark.sql.session.timeZone Europe/Rome\nspark.driver.extraJavaOptions -Da=b -Dc=d\n"
    )
    assert spark_defaults()["spark.driver.extraJavaOptions"] == "-Da=b -Dc=d"
    chosen = settings_for(None, {})
    assert chosen["spark.master"] == "local[7]"
    assert chosen["spark.sql.shuffle.partitions"] == "14"
    assert {"spark.ui.enabled", "spark.driver.memory"}.isdisjoint(chosen)
    assert chosen["spark.sql.session.timeZone"] == "UTC"
    told = settings_for("local[1]", {"spark.driver.memory": "2g", "spark.sql.session.timeZone": "Asia/Tokyo"})
    assert told["spark.master"] == "local[1]"
    assert told["spark.driver.memory"] == "2g"
    assert told["spark.sql.session.timeZone"] == "Asia/Tokyo"


def test_without_any_master(defaults: Path) -> None:
    """A folder of settings without a master, or without the file: all processors of this machine."""
    assert settings_for(None, {})["spark.master"] == "local[*]"
    defaults.write_text("spark.ui.enabled true\n")
    assert settings_for(None, {})["spark.master"] == "local[*]"


def test_another_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SPARK_HOME of another version, or of none, would fail with riddles; Spark Connect, too."""
    check_environment()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    with pytest.raises(BadInput, match="no Spark there"):
        check_environment()
    (tmp_path / "jars").mkdir()
    core = tmp_path / "jars" / "spark-core_2.13-3.5.1.jar"
    core.touch()
    with pytest.raises(BadInput, match=r"is Spark 3\.5\.1, and pyspark is"):
        check_environment()
    core.rename(core.with_name(f"spark-core_2.13-{pyspark.__version__}.jar"))
    check_environment()
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(BadInput, match="SPARK_REMOTE is set"):
        check_environment()


def test_memory_of_a_container(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The smaller of machine and container; 'max' is no limit."""
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine, "LIMITS", (limit, tmp_path / "none"))
    whole = machine.memory_bytes()
    limit.write_text("max\n")
    assert machine.memory_bytes() == whole
    limit.write_text("1048576\n")
    assert machine.memory_bytes() == 1048576
