"""`make` sees to a compiler, Java and Chromium: there, installed, or a line says what to type."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
NEW, OLD = 'openjdk version "21.0.2" 2024-01-16', 'openjdk version "11.0.2" 2019-01-15'


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A folder of programs that is the whole PATH: what isn't put there is not installed."""
    grep = shutil.which("grep")
    assert grep is not None
    (tmp_path / "grep").symlink_to(grep)
    return tmp_path


def stand_in(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def make_quietly(
    programs: Path, target: str = "java", **environment: str
) -> subprocess.CompletedProcess[str]:
    make = shutil.which("make")
    assert make is not None
    others = {
        key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "MAKEFLAGS", "MAKELEVEL")
    }
    return subprocess.run(
        [make, "--no-print-directory", target],
        cwd=PROJECT,
        env={**others, "PATH": str(programs), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("missing", ["g++", "Python.h"])
def test_root_installs_a_compiler(programs: Path, missing: str) -> None:
    """A C++ compiler and the headers of Python: both are needed, and come together."""
    headers = programs / "include"
    headers.mkdir()
    if missing != "Python.h":
        (headers / "Python.h").touch()
    if missing != "g++":
        stand_in(programs, "g++", "exit 0")
    stand_in(programs, "python3", f"echo {headers}")
    stand_in(programs, "id", "echo 0")
    stand_in(programs, "apt-get", 'echo "apt-get $*"')
    done = make_quietly(programs, "compiler")
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["apt-get update", "apt-get install -y g++ python3-dev"]
    stand_in(programs, "id", "echo 1000")
    told = make_quietly(programs, "compiler")
    assert told.returncode != 0
    assert "sudo apt-get update && sudo apt-get install -y g++ python3-dev" in told.stderr


def test_a_compiler_is_there(programs: Path) -> None:
    """Nothing is done, and nothing said."""
    (programs / "Python.h").touch()
    stand_in(programs, "g++", "exit 0")
    stand_in(programs, "python3", f"echo {programs}")
    done = make_quietly(programs, "compiler")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_java_is_there(programs: Path) -> None:
    """Nothing is done, and nothing said."""
    stand_in(programs, "java", f"echo '{NEW}' >&2")
    done = make_quietly(programs)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("there", [None, OLD])
@pytest.mark.parametrize(
    ("known", "package"), [("exit 0", "openjdk-17-jre-headless"), ("exit 100", "default-jre-headless")]
)
def test_root_installs_it(programs: Path, there: str | None, known: str, package: str) -> None:
    """Java 17 where the release has it, else the release's own; an old Java is as good as none."""
    if there is not None:
        stand_in(programs, "java", f"echo '{there}' >&2")
    stand_in(programs, "id", "echo 0")
    stand_in(programs, "apt-get", f'if [ "$2" = --simulate ]; then {known}; fi; echo "apt-get $*"')
    done = make_quietly(programs)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1:] == ["apt-get update", f"apt-get install -y {package}"]


def test_installing_fails(programs: Path) -> None:
    stand_in(programs, "id", "echo 0")
    stand_in(programs, "apt-get", "exit 100")
    assert make_quietly(programs).returncode != 0


@pytest.mark.parametrize(("user", "with_apt_get"), [("1000", True), ("0", False)])
def test_others_are_told_what_to_type(programs: Path, user: str, with_apt_get: bool) -> None:
    """One line; nothing is installed behind anybody's back."""
    stand_in(programs, "id", f"echo {user}")
    if with_apt_get:
        stand_in(programs, "apt-get", "echo installed")
    done = make_quietly(programs)
    assert done.returncode != 0
    assert done.stdout == ""
    assert done.stderr.splitlines()[0] == (
        "Spark needs Java 17 or newer. Type this, then make again: "
        "sudo apt-get update && sudo apt-get install -y default-jre-headless"
    )


def test_a_wrong_java_home(programs: Path) -> None:
    """Spark would take it, so installing another Java would not help."""
    stand_in(programs, "java", f"echo '{NEW}' >&2")
    home = programs / "jdk"
    done = make_quietly(programs, JAVA_HOME=str(home))
    assert done.returncode != 0
    assert f"JAVA_HOME={home} has none" in done.stderr
    home.mkdir()
    stand_in(home / "bin", "java", f"echo '{NEW}' >&2")
    assert make_quietly(programs, JAVA_HOME=str(home)).returncode == 0


@pytest.mark.parametrize(
    ("user", "apt_get", "said"),
    [
        ("0", "exit 0", ["installing it"]),
        ("0", "exit 100", ["installing it", "will be skipped"]),
        ("1000", "echo installed", ["sudo apt-get"]),
    ],
)
def test_chromium_is_never_a_reason_to_stop(programs: Path, user: str, apt_get: str, said: list[str]) -> None:
    """Root installs it; where that fails or isn't allowed, a line says what follows."""
    stand_in(programs, "id", f"echo {user}")
    stand_in(programs, "apt-get", apt_get)
    done = make_quietly(programs, "chromium")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert len(lines) == len(said)
    assert all(word in line for word, line in zip(said, lines, strict=True))


def test_chromium_is_there(programs: Path) -> None:
    stand_in(programs, "chromium", "exit 0")
    assert make_quietly(programs, "chromium").stdout == ""
