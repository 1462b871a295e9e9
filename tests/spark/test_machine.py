"""Java, the master, and what this machine has."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from berth.model import BadInput
from berth.spark.machine import check_java, check_master, local_threads, processors

INSTALL = "on Debian: sudo apt-get install -y default-jre-headless"


def stand_in(folder: Path, says: str, code: int = 0) -> Path:
    """A `java` that prints a version as Java does, on standard error."""
    folder.mkdir(parents=True, exist_ok=True)
    java = folder / "java"
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{says}\nEND\nexit {code}\n")
    java.chmod(0o755)
    return java


def complaint() -> str:
    with pytest.raises(BadInput) as refused:
        check_java()
    (line,) = refused.value.mistakes
    return line


@pytest.fixture(autouse=True)
def only_stand_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(
        "shutil.which", lambda name: str(tmp_path / name) if (tmp_path / name).exists() else None
    )


@pytest.mark.parametrize(
    "says",
    [
        'openjdk version "17.0.15" 2025-04-15',
        'openjdk version "21" 2023-09-19',
        'Picked up JAVA_TOOL_OPTIONS: -Dx=1\njava version "25-ea" 2025-09-16',
    ],
)
def test_new_enough(says: str, tmp_path: Path) -> None:
    """Released, just released, not yet released; with chatter around."""
    stand_in(tmp_path, says)
    check_java()


@pytest.mark.parametrize(
    ("says", "version"), [('java version "1.8.0_392"', 8), ('openjdk version "11.0.2"', 11)]
)
def test_too_old(says: str, version: int, tmp_path: Path) -> None:
    """Both ways in which Java has numbered itself."""
    java = stand_in(tmp_path, says)
    assert complaint() == f"Spark needs Java 17 or newer, and {java} is Java {version}; {INSTALL}"


def test_missing() -> None:
    """Nothing in PATH."""
    assert complaint() == f"Spark needs Java 17 or newer, and there is no 'java' in PATH; {INSTALL}"


def test_broken(tmp_path: Path) -> None:
    """A Java that ends with an error, or isn't a program."""
    java = stand_in(tmp_path, 'openjdk version "17.0.1"', code=1)
    assert complaint() == f"Spark needs Java 17 or newer, and {java} does not run; {INSTALL}"
    java.write_bytes(b"\x00\x01")
    assert complaint() == f"Spark needs Java 17 or newer, and {java} does not run; {INSTALL}"


def test_java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JAVA_HOME comes before PATH, as it does for Spark; the line says that it is the one to change."""
    stand_in(tmp_path, 'openjdk version "17.0.15"')
    home = tmp_path / "jdk"
    monkeypatch.setenv("JAVA_HOME", str(home))
    way_out = "set JAVA_HOME to another one, or unset it"
    assert complaint() == f"Spark needs Java 17 or newer, and JAVA_HOME={home} has no bin/java; {way_out}"
    stand_in(home / "bin", 'openjdk version "11.0.2"')
    assert complaint() == f"Spark needs Java 17 or newer, and JAVA_HOME={home} is Java 11; {way_out}"
    stand_in(home / "bin", 'openjdk version "21.0.2"')
    check_java()


@pytest.mark.parametrize(
    ("master", "threads"),
    [("local", 1), ("local[3]", 3), ("local[4,2]", 4), ("local[*]", processors()), ("yarn", None)],
)
def test_threads(master: str, threads: int | None) -> None:
    check_master(master)
    assert local_threads(master) == threads


@pytest.mark.parametrize("master", ["k8s://https://host:6443", "local-cluster[2, 1, 1024]"])
def test_clusters(master: str) -> None:
    """What berth can't check is left to Spark."""
    check_master(master)
    assert local_threads(master) is None


@pytest.mark.parametrize(
    "master", ["locl[2]", "local[0]", "local[two]", "spark://host", "", "sc://host:15002"]
)
def test_no_master(master: str) -> None:
    with pytest.raises(BadInput, match=r"^master '.*': expected one such as local\[2\], "):
        check_master(master)


def test_nobody_answers() -> None:
    """A wrong name or a closed port is told in seconds; one of several masters is enough."""
    with pytest.raises(BadInput, match=r"^master 'spark://nowhere\.invalid:7077': nobody answers there: "):
        check_master("spark://nowhere.invalid:7077")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        check_master(f"spark://nowhere.invalid:7077,127.0.0.1:{port}")
    with pytest.raises(BadInput, match="connection refused"):
        check_master(f"spark://127.0.0.1:{port}")
