"""Runs: what happened, and a move that waits for an answer; the folders are those of `berth watch`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from berth.files.run_folder import asking
from berth.model import Plan

if TYPE_CHECKING:
    from playwright.sync_api import Page

BEFORE = {"flow/source": "rome", "flow/count": "paris"}
AFTER = {"flow/source": "rome", "flow/count": "rome"}


def _events(*events: dict[str, object]) -> str:
    return "".join(
        json.dumps({"time": f"2026-11-15T23:00:{number * 7:02d}.000+00:00", **event}) + "\n"
        for number, event in enumerate(events)
    )


def test_a_past_run_is_told(open_page: Callable[..., Page], workspace: Path) -> None:
    folder = workspace / "past.run"
    folder.mkdir()
    (folder / "history.jsonl").write_text(
        _events(
            {"event": "started", "reason": "the plan of odp", "plan": 1, "assignment": BEFORE},
            {"event": "looked", "value_achieved": 20.0, "source_bytes_per_s": 1000.0},
            {"event": "node lost", "node": "paris", "reason": "its worker is gone"},
            {"event": "migrated", "reason": "without paris", "plan": 2, "assignment": AFTER, "pause_s": 1.5},
            {"event": "looked", "value_achieved": 12.0, "source_bytes_per_s": 1100.0},
            {"event": "finished", "reason": "the sources ended"},
        )
    )
    (folder / "figures.jsonl").write_text(
        "".join(
            json.dumps(
                {"time": f"2026-11-15T23:00:{second}Z", "rows_per_s": 5.0, "latency_ms": {"p50": 30.0}}
            )
            + "\n"
            for second in ("05", "10", "15")
        )
    )
    page = open_page("#/runs")
    page.get_by_role("link", name="past.run").click()
    expect(page.get_by_role("img", name="latency: median 30 ms")).to_be_visible()
    happened = page.get_by_role("list", name="What happened, the newest first")
    expect(happened.get_by_text("its worker is gone")).to_be_visible()
    expect(happened.get_by_text("pause 1.5 s")).to_be_visible()
    expect(page.get_by_role("img", name="flow/count on paris, then rome")).to_be_visible()
    expect(page.get_by_role("img", name="what the sources send: sources 1.1 kB/s")).to_be_visible()
    expect(page.get_by_role("row", name="count rome")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "button", "said"),
    [
        ("live", "Approve the move", "Approved: the run moves now."),
        ("stays", "Refuse it", "Refused: the run stays as it is."),
    ],
)
def test_a_proposed_move_is_answered(
    open_page: Callable[..., Page], workspace: Path, name: str, button: str, said: str
) -> None:
    folder = workspace / f"{name}.run"
    folder.mkdir()
    (folder / "history.jsonl").write_text(
        _events({"event": "started", "reason": "the plan of odp", "plan": 1, "assignment": BEFORE})
    )
    page = open_page(f"#/runs/{name}.run")
    expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    plans = [
        Plan(given, problem="flow", policy="odp", metrics={"response_time_ms": time})
        for given, time in ((BEFORE, 20.0), (AFTER, 10.0))
    ]
    with asking(folder, "response time 50% better", *plans) as question:
        alert = page.get_by_role("alert")
        expect(alert.get_by_text("flow/count: paris → rome")).to_be_visible()
        expect(alert.get_by_role("row", name="response time 20 ms 10 ms -10 ms better")).to_be_visible()
        alert.get_by_role("button", name=button).click()
        expect(page.get_by_text(said).first).to_be_visible()
        assert question.answer() is (button == "Approve the move")
    expect(page.get_by_role("button", name=button)).to_have_count(0)
