"""The master: the text that says where Spark runs."""

from __future__ import annotations

import re
import socket

from berth.model import BadInput
from berth.spark.machine import processors

DEFAULT_MASTER = "local[*]"
EXAMPLES = "local[2], local[*], spark://host:7077, yarn or k8s://https://host:6443"
CONNECT_SECONDS = 5.0

_LOCAL = re.compile(r"local(?:\[(?P<threads>\*|[1-9]\d*)(?:,\s*[1-9]\d*)?\])?")
_STANDALONE = re.compile(r"spark://(?P<hosts>[^/,\s]+:\d+(?:,[^/,\s]+:\d+)*)")
_OTHERS = re.compile(r"yarn|k8s://\S+|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]")


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
        raise BadInput([f"master {master!r}: expected one such as {EXAMPLES}"])


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
    raise BadInput([f"master {master!r}: nobody answers there: {reason}"])
