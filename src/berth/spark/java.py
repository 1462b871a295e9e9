"""Java, which Spark runs on: found, old or missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from berth.model import BadInput

OLDEST = 17
WAY_OUT = "on Debian: sudo apt-get install -y openjdk-17-jre-headless"


def check_java() -> None:
    """Make sure that Spark will find a Java that it can run on.

    Raises:
        BadInput: there is none, or it is too old; the line says what to type.
    """
    command = _command()
    if command is None:
        raise BadInput([f"Spark needs Java {OLDEST} or newer, and there is no 'java'; {WAY_OUT}"])
    version = _version(command)
    if version is None:
        raise BadInput([f"Spark needs Java {OLDEST} or newer, and {command} does not run; {WAY_OUT}"])
    if version < OLDEST:
        raise BadInput([f"Spark needs Java {OLDEST} or newer, and {command} is Java {version}; {WAY_OUT}"])


def _command() -> str | None:
    """The Java that Spark's own start script would take."""
    home = os.environ.get("JAVA_HOME")
    return os.path.join(home, "bin", "java") if home else shutil.which("java")


def _version(command: str) -> int | None:
    try:
        told = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(found[1]) if found and told.returncode == 0 else None
