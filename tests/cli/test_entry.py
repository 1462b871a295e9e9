"""Where the command starts: what goes wrong becomes a line."""

import pytest

from berth.cli import app, entry
from berth.cli.exit_codes import FAILED
from berth.model.pair_fields import AllPairsError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "out of memory\n"),
        (
            AllPairsError("what lies between all 9,000 nodes"),
            "out of memory: what lies between all 9,000 nodes\n",
        ),
    ],
)
def test_too_little_memory_is_a_line(
    error: MemoryError, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback, and an exit code of its own."""

    def fails() -> None:
        raise error

    monkeypatch.setattr(app, "app", fails)
    with pytest.raises(SystemExit) as stop:
        entry.main()
    assert stop.value.code == FAILED
    assert capsys.readouterr().err == line
