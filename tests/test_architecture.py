"""Imports point down only."""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[1]


def test_import_contracts() -> None:
    """import-linter finds no import against the direction that docs/architecture.md gives."""
    command = [
        str(Path(sys.executable).with_name("lint-imports")),
        "--no-logo",
        "--no-cache",
        "--config",
        str(PROJECT / "pyproject.toml"),
    ]
    done = subprocess.run(command, cwd=PROJECT / "src", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
