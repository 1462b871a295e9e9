"""The commands, settings and environments of master and workers."""

import json
from pathlib import Path

import pytest

from berth.runtime.cluster.daemons import Daemons, Spark, archive_for
from berth.runtime.cluster.nodes import ClusterNode
from berth.runtime.cluster.secret import Secret


@pytest.fixture
def daemons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Daemons:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return Daemons(Spark("/usr/bin/java", "/opt/spark", "2.13"), tmp_path, 7077, 8080, Secret("s" * 64))


def properties(command: list[str]) -> dict[str, str]:
    lines = Path(command[command.index("--properties-file") + 1]).read_text().splitlines()
    return dict(line.split(" ", 1) for line in lines)


def test_the_master_takes_its_ports_or_none(daemons: Daemons) -> None:
    """It doesn't look for others, and has no further one that could be taken."""
    command = daemons.master().command
    assert command[-6:] == ["--host", "127.0.0.1", "--port", "7077", "--webui-port", "8080"]
    settings = properties(command)
    assert settings["spark.port.maxRetries"] == "0"
    assert settings["spark.master.rest.enabled"] == "false"


def test_a_worker_has_a_unit_to_spare(daemons: Daemons) -> None:
    """Cores and units for the node's slots and one more, with memory for one more executor."""
    daemon = daemons.worker(ClusterNode("paris.eu", 4, 953))
    command = daemon.command
    assert command[command.index("--cores") + 1] == "5"
    assert command[command.index("--memory") + 1] == "1465M"
    assert command[-1] == "spark://127.0.0.1:7077"
    settings = properties(command)
    assert settings["spark.worker.resource.node_paris_x2e_eu.amount"] == "5"
    (offer,) = json.loads(Path(settings["spark.worker.resourcesFile"]).read_text())
    assert offer["id"] == {"componentName": "spark.worker", "resourceName": "node_paris_x2e_eu"}
    assert offer["addresses"] == ["0", "1", "2", "3", "4"]


def test_environments(daemons: Daemons, monkeypatch: pytest.MonkeyPatch) -> None:
    """What executors inherit stays; what would come before our settings goes."""
    for key, value in {
        "SPARK_WORKER_CORES": "99",
        "SPARK_MASTER_HOST": "example.com",
        "SPARK_PUBLIC_DNS": "example.com",
        "BERTH_NODE": "elsewhere",
        "PYSPARK_PYTHON": "python3.12",
    }.items():
        monkeypatch.setenv(key, value)
    master = daemons.master().environment
    worker = daemons.worker(ClusterNode("rome", 1, 512)).environment
    assert worker["BERTH_NODE"] == "rome"
    assert "BERTH_NODE" not in master
    for environment in (master, worker):
        assert environment["PYSPARK_PYTHON"] == "python3.12"
        assert environment["SPARK_LOCAL_IP"] == "127.0.0.1"
        assert environment["SPARK_HOME"] == "/opt/spark"
        assert not {"SPARK_WORKER_CORES", "SPARK_MASTER_HOST", "SPARK_PUBLIC_DNS"} & environment.keys()


def test_an_archive_is_written_once(daemons: Daemons, tmp_path: Path) -> None:
    """One worker writes it aside; what it wrote is used by all that follow, and older ones go."""
    node = ClusterNode("rome", 1, 512)
    writing = f"-XX:ArchiveClassesAtExit={daemons.archive_aside}"
    assert writing in daemons.worker(node, archiving=True).command
    assert writing not in daemons.worker(node).command
    daemons.archive.take(daemons.archive_aside)
    assert not daemons.archive.file.exists()
    daemons.archive_aside.write_text("classes")
    old = daemons.archive.file.with_name("daemons-0.jsa")
    old.parent.mkdir(parents=True)
    old.write_text("older classes")
    daemons.archive.take(daemons.archive_aside)
    assert [path.read_text() for path in old.parent.iterdir()] == ["classes"]
    reading = f"-XX:SharedArchiveFile={daemons.archive.file}"
    assert reading in daemons.master().command
    assert reading in daemons.worker(node).command
    assert writing not in daemons.worker(node, archiving=True).command


def test_another_java_has_another_archive(daemons: Daemons) -> None:
    """An archive fits one Java and one Spark."""
    files = {
        archive_for(java, home).file
        for java in ("/usr/bin/java", "/opt/java")
        for home in ("/opt/spark", "/opt/x")
    }
    assert len(files) == 4
