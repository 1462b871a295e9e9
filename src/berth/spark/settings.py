"""The settings of a session: what results need, what suits the machine, and what the user's own files say."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

import pyspark

from berth.model import BadInput
from berth.spark.machine import DEFAULT_MASTER, local_threads, memory_bytes

# Tables would differ without these: only --conf changes them.
NEEDED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # the nanoseconds that pandas writes are readable, and nobody's reader needs the old 96-bit timestamps
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}

# Better than Spark's own defaults for us; spark-defaults.conf changes them.
PREFERRED = {
    # rows between Python and the JVM as columns
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # no web page that nobody asked for, and no second progress bar
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # small shuffles become few tasks, whatever the number of partitions that they start with
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
}

# Java and the Python workers talk by files that only their user can open (since Spark 4.1). By ports, other
# users could hold up a session: they lack the secret, but are listened to, and forked a process for, before
# they are asked for it.
PRIVATE_SOCKETS = "spark.python.unix.domain.socket.enabled"
SOCKET_FOLDER = "spark.python.unix.domain.socket.dir"
LONGEST_SOCKET_FOLDER = 61
"""What Spark takes: paths of sockets are at most 107 characters long."""

# A session on this machine talks to itself: no host name to look up, no port open to other machines, and
# other users of this one lack the secret that Spark draws for it.
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.authenticate": "true",
    PRIVATE_SOCKETS: "true",
}

# On a cluster large shuffles start with tasks for 200 processors and more; small tasks are joined later.
CLUSTER = {"spark.sql.adaptive.coalescePartitions.initialPartitionNum": "1000"}

_LINE = re.compile(r"(?P<key>[^\s=:#!][^\s=:]*)\s*[\s=:]\s*(?P<value>.*)")


def settings_for(master: str | None, given: Mapping[str, str]) -> dict[str, str]:
    """All settings that a session starts with, `spark.master` among them.

    Args:
        master: the master asked for; None: what spark-defaults.conf says, else `local[*]`.
        given: settings asked for by name; they come before all others.
    """
    written = spark_defaults()
    chosen = master or written.get("spark.master") or DEFAULT_MASTER
    threads = local_threads(chosen)
    preferred = PREFERRED | (CLUSTER if threads is None else LOCAL | _local_sizes(threads))
    ours = {key: value for key, value in preferred.items() if key not in written}
    return ours | NEEDED | dict(given) | {"spark.master": chosen}


def spark_defaults() -> dict[str, str]:
    """What the user's spark-defaults.conf says; Spark reads it, too, but lets our settings win."""
    try:
        text = (configuration_folder() / "spark-defaults.conf").read_text(errors="replace")
    except OSError:
        return {}
    found = (_LINE.fullmatch(line.strip()) for line in text.splitlines())
    return {line["key"]: line["value"].strip() for line in found if line}


def configuration_folder() -> Path:
    """Where Spark looks for spark-defaults.conf and spark-env.sh."""
    return Path(os.environ.get("SPARK_CONF_DIR") or spark_home() / "conf")


def spark_home() -> Path:
    """The Spark that starts: that of SPARK_HOME, or the one that comes with pyspark."""
    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)


def check_environment() -> None:
    """Refuse variables that would start another Spark than the one that pyspark talks to.

    Raises:
        BadInput: SPARK_HOME is another version, or a session of Spark Connect is asked for.
    """
    if os.environ.get("SPARK_REMOTE"):
        raise BadInput("SPARK_REMOTE is set: berth can't use Spark Connect; unset it and give a master")
    if not os.environ.get("SPARK_HOME"):
        return
    ours = pyspark.__version__
    cores = [path.stem.rpartition("-")[2] for path in spark_home().glob("jars/spark-core_*.jar")]
    if not cores:
        raise BadInput(f"SPARK_HOME={spark_home()}: no Spark there; unset it to use pyspark's own {ours}")
    if cores[0].split(".")[:2] != ours.split(".")[:2]:
        raise BadInput(f"SPARK_HOME={spark_home()} is Spark {cores[0]}, and pyspark is {ours}: unset it")


def _local_sizes(threads: int) -> dict[str, str]:
    """Sizes for driver and executors in one process: a quarter of the memory, if the tasks can use it."""
    heap = max(1, min(4 + threads, memory_bytes() // 2**30 // 4))
    return {
        "spark.driver.memory": f"{heap}g",
        "spark.driver.maxResultSize": f"{heap * 512}m",
        "spark.sql.shuffle.partitions": str(2 * threads),
    }
