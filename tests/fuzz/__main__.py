"""Looks for files that break berth, for as long as it is told: `make fuzz`.

What it finds is shrunk, put into `tests/fuzz/corpus`, and tried by every `make test` from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from berth.spark import SparkSession, spark_session
from tests.fuzz import telemetry
from tests.fuzz.mutation import applications, written
from tests.fuzz.properties import PROPERTIES
from tests.fuzz.seeds import PLANS, PROBLEMS

CORPUS = Path(__file__).parent / "corpus"
MANY = settings(
    max_examples=200,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
SLOW_SECONDS = 10.0
"""Of processor time: nothing as small as these files may take so long."""
TELL_SECONDS = 20.0
STRATEGIES: dict[str, st.SearchStrategy[tuple[str, bytes]]] = {
    "problem": written(PROBLEMS),
    "plan": written(PLANS),
    "application": st.tuples(st.just(".py"), applications()),
}


class Failed(Exception):  # noqa: N818
    """A property that doesn't hold, with the file for which it doesn't."""

    def __init__(self, file: Path, content: bytes) -> None:
        super().__init__(file.name)
        self.file, self.content = file, content


def main() -> int:
    """Round after round; how many kinds of files something was found for."""
    arguments = argparse.ArgumentParser(prog="make fuzz", description=__doc__.splitlines()[0])
    arguments.add_argument("--seconds", type=float, default=600.0)
    arguments.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    arguments.add_argument("--only", choices=[*STRATEGIES, "telemetry"], action="append")
    chosen = arguments.parse_args()
    print(f"seed {chosen.seed}, {chosen.seconds:g} s", flush=True)
    kinds = chosen.only or [*STRATEGIES, "telemetry"]
    told = time.monotonic()
    deadline, found, tried = time.monotonic() + chosen.seconds, set(), dict.fromkeys(kinds, 0)
    with tempfile.TemporaryDirectory() as scratch:
        rounds: dict[str, Callable[[int], int]] = {
            kind: lambda number, kind=kind: _files(kind, number, Path(scratch)) for kind in STRATEGIES
        }
        with spark_session("local[2]", name="berth fuzz") if "telemetry" in kinds else nullcontext() as spark:
            rounds["telemetry"] = lambda number: _telemetry(spark, number, Path(scratch))
            for number, kind in zip(itertools.count(chosen.seed), itertools.cycle(kinds), strict=False):
                if time.monotonic() > deadline:
                    break
                try:
                    tried[kind] += rounds[kind](number)
                except Failed as failed:
                    found.add(kind)
                    _keep(kind, failed)
                if time.monotonic() - told > TELL_SECONDS:
                    told = time.monotonic()
                    print(_told(tried), flush=True)
    print(_told(tried))
    print(f"something was found for: {', '.join(sorted(found))}" if found else "nothing was found")
    return 1 if found else 0


def _told(tried: dict[str, int]) -> str:
    return f"tried so far: {', '.join(f'{count:,} of {name}' for name, count in tried.items())}"


def _files(kind: str, number: int, scratch: Path) -> int:
    """A round of files of a kind; how many there were."""
    tried, last = 0, Failed(scratch / kind, b"")

    @seed(number)
    @MANY
    @given(drawn=STRATEGIES[kind])
    def round_of(drawn: tuple[str, bytes]) -> None:
        nonlocal tried, last
        suffix, content = drawn
        file = scratch / f"{kind}{suffix}"
        file.write_bytes(content)
        tried, last = tried + 1, Failed(file, content)
        began = time.process_time()
        PROPERTIES[kind](file)
        assert time.process_time() - began < SLOW_SECONDS, "slow"

    try:
        round_of()
    except Exception as error:
        raise last from error
    return tried


def _telemetry(session: SparkSession, number: int, scratch: Path) -> int:
    """A feed; how many lines it had. What is found is too long to keep: its seed makes it again."""
    try:
        return telemetry.check(session, number, scratch / str(number))
    except Exception as error:
        raise Failed(scratch / "telemetry.txt", f"{number}\n".encode()) from error


def _keep(kind: str, failed: Failed) -> None:
    """Put what was found into the corpus, and say why."""
    cause: Any = failed.__cause__
    traceback.print_exception(cause, limit=-6)
    digest = hashlib.sha256(failed.content).hexdigest()[:10]
    kept = CORPUS / f"{kind}-{digest}{failed.file.suffix}"
    kept.write_bytes(failed.content)
    print(f"{kept}: {type(cause).__name__}: {str(cause)[:300]}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
