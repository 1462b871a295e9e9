"""The command in this process: starting another one takes longer than most commands do."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest.mock import patch

import pytest

from berth.cli import entry, output


class Done(NamedTuple):
    """The exit code of a command, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run_berth(*arguments: str, width: int = 120, given: str = "") -> Done:
    """Run `berth` with these arguments on a terminal of that width, and something on standard input."""
    printed, complained = io.StringIO(), io.StringIO()
    output.out.width = width
    with (
        redirect_stdout(printed),
        redirect_stderr(complained),
        patch.object(sys, "argv", ["berth", *arguments]),
        patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()))),
        pytest.raises(SystemExit) as stopped,
    ):
        entry.main()
    assert isinstance(stopped.value.code, int)
    return Done(stopped.value.code, printed.getvalue(), complained.getvalue())
