"""Tables and experiments: what `berth ingest` and `berth reproduce` leave in the workspace."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_a_table_page_by_page(open_page: Callable[..., Page], workspace: Path) -> None:
    (workspace / "measured" / "links").mkdir(parents=True)
    table = {"from": ["rome"] * 150, "delay_ms": [float(number) for number in range(150)]}
    pq.write_table(pa.table(table), workspace / "measured" / "links" / "part.parquet")
    page = open_page("#/tables")
    page.get_by_role("link", name="measured/links").click()
    expect(page.get_by_text("Rows 1 to 100 of 150")).to_be_visible()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Rows 101 to 150 of 150")).to_be_visible()
    expect(page.get_by_role("cell", name="149", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Next")).to_be_disabled()


def test_a_report_and_the_league(open_page: Callable[..., Page], workspace: Path) -> None:
    results = workspace / "reproduction" / "league" / "results"
    results.mkdir(parents=True)
    (workspace / "reproduction" / "report.html").write_text("<h1>Run again</h1>")
    table = {
        "group": ["one application, small"] * 2,
        "problem": ["p"] * 2,
        "seed": [0] * 2,
        "policy": ["odp", "random"],
        "value": [10.0, 25.0],
        "bound": [10.0, None],
        "maximise": [False] * 2,
        "outcome": ["plan"] * 2,
        "own_goal": [False, True],
        "seconds": [0.5, 0.001],
    }
    pq.write_table(pa.table(table), results / "part.parquet")
    page = open_page("#/experiments")
    page.get_by_role("link", name="reproduction").click()
    expect(page.get_by_role("row", name="odp 1.00 1 of 1 1 – – 0.5 s")).to_be_visible()
    expect(page.get_by_role("row", name="random † 2.50 0 of 1 1 – – < 0.01 s")).to_be_visible()
    report = page.frame_locator("iframe.report")
    expect(report.get_by_role("heading", name="Run again")).to_be_visible()
    page.get_by_text("league: results (2 rows)").click()
    expect(page.get_by_role("cell", name="one application, small").first).to_be_visible()
