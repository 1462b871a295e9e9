"""What Spark needs around it: Java, processors and memory of this machine, and a master that answers."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

from berth.model import BadInput

# where containers say how much memory they may use: control groups version 2 and version 1
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
OLDEST_JAVA = 17
NEED_JAVA = f"Spark needs Java {OLDEST_JAVA} or newer"
WAY_OUT = "on Debian: sudo apt-get install -y default-jre-headless"
DEFAULT_MASTER = "local[*]"
EXAMPLE_MASTERS = "local[2], local[*], spark://host:7077, yarn or k8s://https://host:6443"
CONNECT_SECONDS = 5.0
_LOCAL = re.compile(r"local(?:\[(?P<threads>\*|[1-9]\d*)(?:,\s*[1-9]\d*)?\])?")
_STANDALONE = re.compile(r"spark://(?P<hosts>[^/,\s]+:\d+(?:,[^/,\s]+:\d+)*)")
_OTHERS = re.compile(r"yarn|k8s://\S+|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]")


def processors() -> int:
    """How many processors this process may run on."""
    return len(os.sched_getaffinity(0))


def memory_bytes() -> int:
    """The memory of this machine, or of the container around this process."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *(int(text) for text in map(_read, LIMITS) if text.isdigit())])


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


def check_java() -> None:
    """Make sure that Spark will find a Java that it can run on.

    Raises:
        BadInput: there is none, or it is too old; the line says what to type.
    """
    home = os.environ.get("JAVA_HOME")
    # the one that Spark's own start script takes
    command = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if command is None:
        raise BadInput(f"{NEED_JAVA}, and there is no 'java' in PATH; {WAY_OUT}")
    way_out = "set JAVA_HOME to another one, or unset it" if home else WAY_OUT
    where = f"JAVA_HOME={home}" if home else command
    if home and not os.path.exists(command):
        raise BadInput(f"{NEED_JAVA}, and {where} has no bin/java; {way_out}")
    version = _version(command)
    if version is None:
        raise BadInput(f"{NEED_JAVA}, and {command} does not run; {way_out}")
    if version < OLDEST_JAVA:
        raise BadInput(f"{NEED_JAVA}, and {where} is Java {version}; {way_out}")


def _version(command: str) -> int | None:
    try:
        told = subprocess.run(
            [command, "-version"], capture_output=True, text=True, errors="replace", timeout=60
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    return int(found[1]) if found and told.returncode == 0 else None


def local_threads(master: str) -> int | None:
    """How many tasks run at once on this machine; None if the master is not a local one."""
    local = _LOCAL.fullmatch(master)
    if local is None:
        return None
    return processors() if local["threads"] == "*" else int(local["threads"] or 1)


def check_master(master: str) -> None:
    """Refuse at once what Spark would refuse after a minute or with a riddle.

    Raises:
        BadInput: the text is no master, or nobody answers there.
    """
    standalone = _STANDALONE.fullmatch(master)
    if standalone is not None:
        _check_answer(master, standalone["hosts"].split(","))
    elif not (_LOCAL.fullmatch(master) or _OTHERS.fullmatch(master)):
        raise BadInput(f"master {master!r}: expected one such as {EXAMPLE_MASTERS}")


def _check_answer(master: str, hosts: list[str]) -> None:
    """One of several masters that stand by for each other is enough."""
    reason = ""
    for address in hosts:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
            return
        except (OSError, OverflowError, UnicodeError) as error:
            reason = (getattr(error, "strerror", None) or str(error)).lower()
    raise BadInput(f"master {master!r}: nobody answers there: {reason}")
