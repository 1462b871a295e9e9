"""The examples of the reference, as a reader would run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.test_serve import serving

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "rest.md").read_text()
USUAL = "http://127.0.0.1:8080"


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
    return str(found)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("workspace"), "--port", "0") as (_, found):
        yield found


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_with_curl(address: str, tmp_path: Path) -> None:
    """From an example to a plan that is explained, and a change under one's own name."""
    done = subprocess.run(
        ["bash", "-e", "-u", "-o", "pipefail", "-c", block("sh").replace(USUAL, address)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "event: progress" in done.stdout
    assert '"state":"done"' in done.stdout
    plan, moved, why = (
        json.loads((tmp_path / f"{name}.json").read_text()) for name in ("plan", "moved", "why")
    )
    assert plan["status"] == "optimal"
    assert moved["metrics"]["response_time_ms"] > plan["metrics"]["response_time_ms"]
    assert why["format"] == "berth-explanation/v1"
    assert json.loads((tmp_path / "changed.json").read_text())["name"] == "tag-and-count-at-night"


def test_in_python(address: str, tmp_path: Path) -> None:
    """Two policies compared, and a mistake that is told."""
    done = subprocess.run(
        [sys.executable, "-c", block("python").replace(USUAL, address)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done ") == 2
    assert "422" in done.stdout
    assert "did you mean 'odp'" in done.stdout
