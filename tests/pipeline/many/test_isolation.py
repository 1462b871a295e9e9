"""Whatever a problem or a policy does costs its own row."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from berth.pipeline.many.solver import Row, SolverProcess, Terms
from berth.policies import registry

WILD = '''
import os, signal, sys, time
from berth.policies.policy import About, NoParameters
from berth.policies.round_robin import RoundRobin

class Wild:
    """Does what its seed says."""
    about = About("wild", "none", "nothing", "none")
    parameters = NoParameters

    def solve(self, task):
        deeds = {
            1: lambda: os._exit(7),
            2: lambda: os.kill(os.getpid(), signal.SIGSEGV),
            3: lambda: time.sleep(600),
            4: lambda: 1 / 0,
            5: lambda: sys.exit(0),
            7: lambda: bytearray(2**62),
        }
        if task.seed == 6:
            return self.solve(task)
        deeds.get(task.seed, lambda: None)()
        return RoundRobin().solve(task)
'''
SMALL = {
    "format": "berth/v1",
    "name": "small",
    "network": {"nodes": [{"name": "rome", "capacity": {"cpu": 2}}]},
    "applications": [{"name": "a", "operators": [{"name": "s", "demand": {"cpu": 1}}]}],
}


class Quick(Terms):
    """Terms whose hard limit a test can wait for, and that a busy machine keeps for all other deeds."""

    @property
    def hard_limit(self) -> float | None:
        return 3.0


def request(*seeds: int, content: Any = SMALL) -> Row:
    variants = [{"key": str(seed), "policy": "wild", "parameters": [], "seed": seed} for seed in seeds]
    text = content if isinstance(content, bytes) else json.dumps(content).encode()
    return {
        "source": "/x.json",
        "name": "x",
        "digest": "d",
        "content": text,
        "mistake": None,
        "variants": variants,
    }


@pytest.fixture
def solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SolverProcess]:
    (tmp_path / "wild_policy.py").write_text(WILD)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(registry.BUILT_IN, "wild", "wild_policy:Wild")
    with SolverProcess() as process:
        yield process


@pytest.mark.parametrize(
    ("seed", "error"),
    [
        (1, "the policy ended its process (exit code 7)"),
        (2, "the policy crashed: its process died of SIGSEGV"),
        (3, "TimeoutError: ended by force 3 s after its start"),
        (4, "ZeroDivisionError: division by zero"),
        (5, "SystemExit: 0"),
        (6, "RecursionError: maximum recursion depth exceeded"),
        (7, "MemoryError"),
    ],
)
def test_one_wild_solve_costs_its_row(solver: SolverProcess, seed: int, error: str) -> None:
    """Those before and after it are solved, each once, in the same request and in others."""
    requests = [request(10, 11), request(12, seed, 13), request(14)]
    rows = {row["seed"]: row for row in solver.answers(requests, Quick(60.0))}
    assert sorted(rows) == sorted([10, 11, 12, seed, 13, 14])
    assert rows.pop(seed)["error"].startswith(error)
    assert {row["status"] for row in rows.values()} == {"feasible"}


def test_every_solve_may_crash(solver: SolverProcess) -> None:
    """A new process for each of them, and the rest is solved."""
    rows = list(solver.answers([request(1, 2, 1, 0, 2)], Quick(60.0)))
    assert len(rows) == 5
    assert sum(row.get("error") is None for row in rows) == 1


def test_whoever_asks_may_leave(solver: SolverProcess) -> None:
    """Answers that nobody took don't become the next one's."""
    first = solver.answers([request(20, 1, 21, 22)], Quick(60.0))
    next(first)
    first.close()
    assert [row["seed"] for row in solver.answers([request(30, 31)], Quick(60.0))] == [30, 31]


def test_what_was_wrong_with_a_problem(solver: SolverProcess) -> None:
    """Mistakes in the problem are the lines that `berth solve` prints; what could not be read says why."""
    unread = request(0) | {"content": None, "mistake": "/x.json: permission denied"}
    broken = [request(0, content=content) for content in (b"{", b"\xff", {"format": "berth/v1"})]
    texts = [row["error"] for row in solver.answers([unread, *broken], Terms(60.0))]
    assert texts[0] == "/x.json: permission denied"
    assert texts[1].startswith("/x.json:1:2: not valid JSON")
    assert texts[2].startswith("/x.json: not UTF-8 text")
    assert "name" in texts[3]
    assert "network" in texts[3]


def test_the_process_ends_with_its_parent(tmp_path: Path, solver: SolverProcess) -> None:
    """Killed in the middle of a solve, a worker leaves nothing behind."""
    told = tmp_path / "pid"
    parent = os.fork()
    if parent == 0:
        orphan = SolverProcess()
        process = orphan.started()
        told.write_text(str(process.pid))
        process.connection.send(([request(3)], [(0, request(3)["variants"][0])], Terms(60.0)))
        time.sleep(60)
        os._exit(0)
    while not told.exists() or not told.read_text():
        time.sleep(0.05)
    os.kill(parent, 9)
    os.waitpid(parent, 0)
    child = Path("/proc", told.read_text(), "stat")
    until = time.monotonic() + 10
    while child.exists() and child.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < until
        time.sleep(0.05)
