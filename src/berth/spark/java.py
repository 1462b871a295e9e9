"""Java, which Spark runs on: found, old or missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from berth.model import BadInput

OLDEST = 17
NEED = f"Spark needs Java {OLDEST} or newer"
WAY_OUT = "on Debian: sudo apt-get install -y default-jre-headless"


def check_java() -> None:
    """Make sure that Spark will find a Java that it can run on.

    Raises:
        BadInput: there is none, or it is too old; the line says what to type.
    """
    home = os.environ.get("JAVA_HOME")
    # the one that Spark's own start script takes
    command = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if command is None:
        raise BadInput([f"{NEED}, and there is no 'java' in PATH; {WAY_OUT}"])
    way_out = "set JAVA_HOME to another one, or unset it" if home else WAY_OUT
    where = f"JAVA_HOME={home}" if home else command
    if home and not os.path.exists(command):
        raise BadInput([f"{NEED}, and {where} has no bin/java; {way_out}"])
    version = _version(command)
    if version is None:
        raise BadInput([f"{NEED}, and {command} does not run; {way_out}"])
    if version < OLDEST:
        raise BadInput([f"{NEED}, and {where} is Java {version}; {way_out}"])


def _version(command: str) -> int | None:
    try:
        told = subprocess.run(
            [command, "-version"], capture_output=True, text=True, errors="replace", timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(found[1]) if found and told.returncode == 0 else None
