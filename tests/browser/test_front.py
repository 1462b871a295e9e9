"""The front between two metrics on the page: asked for, seen, and a point of it opened."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from berth.files import load_plan
from tests.browser.steps import tile

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_a_front_is_found_and_a_click_shows_a_plan(
    open_page: Callable[..., Page], stored: Callable[[str, str], str], workspace: Path
) -> None:
    problem = stored("two-source-join", "between")
    page = open_page(f"#/problems/{problem}")
    page.get_by_role("link", name="Front", exact=True).click()
    page.get_by_label("From the best").select_option("response_time")
    page.get_by_label("to the best").select_option("cost_per_hour")
    page.get_by_role("button", name="Find the front").click()
    expect(page.get_by_text("5 points, proved to be the whole front.")).to_be_visible()
    rows = page.locator("table.front tbody tr")
    expect(rows).to_have_count(5)
    expect(rows.filter(has_text="knee")).to_have_count(1)
    expect(page.get_by_role("img", name=re.compile("cost per hour .* over response time"))).to_be_visible()
    figure = rows.nth(1).locator("td.figure").first.inner_text()
    page.locator(".chart .pick").nth(1).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"fronts/.*/point-02\.json"))
    expect(tile(page, "response time ◎")).to_have_text(figure)
    (file,) = (workspace / "fronts").rglob("point-02.json")
    assert load_plan(file).problem == "between"
    page.go_back()
    expect(rows).to_have_count(5)
    page.get_by_role("button", name="See plan 2").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(r"point-02\.json"))
    page.goto("/#/jobs")
    listed = page.get_by_role("row").filter(has_text="front: response time and cost per hour")
    listed.get_by_role("link").click()
    expect(page.get_by_label("From the best")).to_have_value("response_time")
    expect(rows).to_have_count(5)
