"""Masters: refused at once where Spark would take a minute or ask riddles."""

import socket

import pytest

from berth.model import BadInput
from berth.spark.machine import processors
from berth.spark.master import check_master, local_threads


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
