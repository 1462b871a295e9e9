"""Everything by keys alone: the mouse is never touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST_STEPS = 120


def reach(page: Page, name: str) -> None:
    """Press Tab until what has the focus is called so; whoever can't get there fails."""
    seen = []
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        now = page.evaluate(
            """() => {
                const element = document.activeElement;
                const labels = [...(element.labels ?? [])].map((label) => label.textContent);
                return element.getAttribute('aria-label') ?? labels[0] ?? element.textContent.trim();
            }"""
        )
        if now.startswith(name):
            outline = page.evaluate("() => document.activeElement.matches(':focus-visible')")
            assert outline, f"{name} has the focus, and nobody sees it"
            return
        seen.append(now[:30])
    raise AssertionError(f"{name} can't be reached by Tab: {seen}")


def test_from_problem_to_own_plan(open_page: Callable[..., Page], stored: Callable[[str, str], str]) -> None:
    stored("tag-and-count", "by-keys")
    page = open_page("#/problems")
    page.get_by_role("link", name="Find a plan for by-keys.yaml").wait_for()
    reach(page, "Find a plan for by-keys.yaml")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Start")).to_be_focused()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Change by hand").wait_for()
    reach(page, "Change by hand")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    changed = page.locator(".tile").locator(".better, .worse")
    expect(changed).to_have_count(0)
    # an operator in the graph, then a node on the map
    reach(page, "tag-and-count/")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".operator.chosen")).to_have_count(1)
    # and the list: the first operator that may move
    page.keyboard.press("Escape")
    first = page.locator("select[data-instance]:enabled").first
    reach(page, str(first.get_attribute("aria-label")))
    page.keyboard.press("ArrowDown" if first.evaluate("one => one.selectedIndex") == 0 else "ArrowUp")
    expect(changed.first).to_be_visible()
    expect(first).to_be_focused()
    page.keyboard.press("Control+z")
    expect(changed).to_have_count(0)


def test_the_skip_link_and_the_sections(open_page: Callable[..., Page]) -> None:
    page = open_page("#/runs")
    page.get_by_role("heading", name="Runs").wait_for()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    expect(page.get_by_role("heading", name="Runs")).to_be_visible()
    reach_back = page.get_by_role("link", name="Jobs", exact=True)
    reach_back.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Runs")


def test_the_map_moves_and_zooms_by_keys(
    open_page: Callable[..., Page], stored: Callable[[str, str], str]
) -> None:
    page = open_page(f"#/problems/{stored('tag-and-count', 'moved-by-keys')}")
    surface = page.locator(".map .surface")
    surface.focus()
    camera = "surface => ({...surface.picture.camera})"
    before = surface.evaluate(camera)
    page.keyboard.press("+")
    nearer = surface.evaluate(camera)
    assert nearer["scale"] > before["scale"]
    page.keyboard.press("ArrowLeft")
    assert surface.evaluate(camera)["x"] > nearer["x"]
    page.keyboard.press("0")
    assert surface.evaluate(camera) == before
    page.keyboard.press("n")
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".details h3")).to_be_visible()
