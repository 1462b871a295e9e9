"""The session: one for all who ask, and errors that fit into a line."""

import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from berth.model import BadInput
from berth.spark import SparkFailed, SparkSession, spark_session
from berth.spark.session import _with_sockets
from berth.spark.settings import PRIVATE_SOCKETS, SOCKET_FOLDER, settings_for


def test_commands_in_this_process_use_the_shared_session(spark: SparkSession) -> None:
    """The one builder gives the session that is there, in every thread, and leaves it running."""
    with spark_session("local[1]", settings={"spark.sql.shuffle.partitions": "7"}) as same:
        assert same is spark
    assert spark.range(3).count() == 3
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    found = []

    def elsewhere() -> None:
        with spark_session() as session:
            found.append(session.range(4).count())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [4]
    assert SparkSession.getActiveSession() is spark


def test_settings_workers_and_the_active_session(spark: SparkSession) -> None:
    """Workers run the interpreter of the driver, whatever `python3` is; the session is active here."""
    workers = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).collect()
    assert workers == [sys.executable]
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert SparkSession.getActiveSession() is spark


def test_other_users_are_kept_out(spark: SparkSession) -> None:
    """The ports of a local session want a secret, and what it puts on the disk is in a folder of its own."""
    assert spark.conf.get("spark.authenticate") == "true"
    place = Path(str(spark.conf.get("spark.local.dir")))
    assert place.name.startswith("berth-")
    assert place.stat().st_mode & 0o777 == 0o700
    assert any(place.glob("blockmgr-*"))
    assert spark.sparkContext.parallelize([1, 2], 2).map(lambda number: number + 1).collect() == [2, 3]
    sockets = [file for file in place.iterdir() if file.is_socket()]
    # the daemon of the workers, and what takes accumulators
    assert len(sockets) >= 2
    server: Any = spark.sparkContext._accumulatorServer  # type: ignore[attr-defined]
    assert Path(server.server_address) in sockets


def test_sockets_are_private_or_not_there(tmp_path: Path) -> None:
    """In our folder where that is short enough; on other machines it isn't there."""
    local = settings_for("local[1]", {})
    assert _with_sockets(local, Path("/tmp/berth-1"))[SOCKET_FOLDER] == "/tmp/berth-1"
    assert _with_sockets(local, Path("/tmp", "x" * 60))[PRIVATE_SOCKETS] == "false"
    theirs = local | {SOCKET_FOLDER: "/run/mine"}
    assert _with_sockets(theirs, tmp_path) == theirs
    elsewhere = settings_for("spark://host:7077", {PRIVATE_SOCKETS: "true"})
    assert _with_sockets(elsewhere, tmp_path) == elsewhere


def test_errors_of_a_shared_session(spark: SparkSession) -> None:
    """One line, while the session stays usable; mistakes of the user pass as they are."""
    with pytest.raises(SparkFailed, match=r"^\[PATH_NOT_FOUND\] .*nowhere\.?$"), spark_session() as session:
        session.read.parquet("/nowhere")
    with pytest.raises(SparkFailed, match=r"^ZeroDivisionError: "), spark_session() as session:
        session.sparkContext.parallelize([0], 1).map(lambda number: 1 // number).count()
    with pytest.raises(BadInput, match="mine"), spark_session():
        raise BadInput(["mine"])
    assert spark.range(2).count() == 2
