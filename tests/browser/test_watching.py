"""Runs: what happened, and a move that waits for an answer; the folders are those of `berth watch`."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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
    page = open_page("#/runs")
    page.get_by_role("link", name="past.run").click()
    happened = page.get_by_role("list", name="What happened, the newest first")
    expect(happened.get_by_text("its worker is gone")).to_be_visible()
    expect(happened.get_by_text("pause 1.5 s")).to_be_visible()
    expect(page.get_by_role("img", name="flow/count on paris, then rome")).to_be_visible()
    expect(page.get_by_role("img", name="what the sources send: sources 1.1 kB/s")).to_be_visible()
    expect(page.get_by_role("row", name="count rome")).to_be_visible()


def test_a_proposed_move_is_approved(open_page: Callable[..., Page], workspace: Path) -> None:
    folder = workspace / "live.run"
    folder.mkdir()
    (folder / "history.jsonl").write_text(
        _events({"event": "started", "reason": "the plan of odp", "plan": 1, "assignment": BEFORE})
    )
    page = open_page("#/runs/live.run")
    expect(page.get_by_role("heading", name="What happened")).to_be_visible()
    plans = [Plan(problem="flow", policy="odp", assignment=given) for given in (BEFORE, AFTER)]
    with asking(folder, "response time 50% better", *plans) as question:
        alert = page.get_by_role("alert")
        expect(alert.get_by_text("flow/count: paris → rome")).to_be_visible()
        alert.get_by_role("button", name="Approve the move").click()
        expect(page.get_by_text("Approved: the run moves now.").first).to_be_visible()
        assert question.answer() is True
        threading.Event().wait(0.05)
    expect(page.get_by_role("button", name="Approve the move")).to_have_count(0)
