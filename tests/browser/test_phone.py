"""A phone's width: everything is there, nothing hangs out, and fingers can do what the mouse does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.conftest import PHONE
from tests.browser.steps import another_node, place_of, solved, too_wide

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_every_view_fits(open_page: Callable[..., Page], stored: Callable[[str, str], str]) -> None:
    page = open_page(size=PHONE, has_touch=True, is_mobile=True)
    problem = stored("edge-cameras", "on-a-phone")
    plan = solved(page, problem).split("#")[1]
    views = {
        "/problems": "Problems",
        f"/problems/{problem}": problem,
        f"/problems/{problem}/edit": problem,
        f"/problems/{problem}/solve": problem,
        f"/problems/{problem}/plans": problem,
        plan: plan.split("/")[-1],
        f"{plan}/change": f"Change {plan.split('/')[-1]}",
        "/jobs": "Jobs",
        "/runs": "Runs",
        "/tables": "Tables",
        "/experiments": "Experiments",
    }
    for view, heading in views.items():
        page.goto(f"/#{view}")
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        expect(page.locator(".waiting")).to_have_count(0)
        assert not too_wide(page), view


def test_a_tap_on_an_operator_and_on_a_node_moves_it(
    open_page: Callable[..., Page], stored: Callable[[str, str], str]
) -> None:
    page = open_page(size=PHONE, has_touch=True, is_mobile=True)
    plan = solved(page, stored("tag-and-count", "tapped"))
    page.goto(f"{plan}/change")
    instance, other = another_node(page)
    page.locator(f'[data-operator="{instance.split("#")[0]}"]').tap()
    expect(page.get_by_text("is chosen")).to_be_visible()
    page.touchscreen.tap(*place_of(page, other))
    # the response time may stay as it is: there are several optimal plans
    expect(page.locator(f'select[data-instance="{instance}"]')).to_have_value(other)
