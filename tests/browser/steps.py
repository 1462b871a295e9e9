"""What people do on the page, for tests to put together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


def solved(page: Page, problem: str, policy: str = "odp") -> str:
    """Find a plan for a problem; the plan's address is then shown."""
    page.goto(f"/#/problems/{problem}/solve")
    page.get_by_label("Policy").select_option(policy)
    page.get_by_role("button", name="Start").click()
    page.get_by_role("link", name="Change by hand").wait_for()
    return page.url


def place_of(page: Page, node: str) -> tuple[float, float]:
    """Where a node of the map is in the window, brought into view."""
    surface = page.locator(".map .surface")
    # into the middle: the metrics stay at the top of the window and hide what is below them
    surface.evaluate("(surface) => surface.scrollIntoView({block: 'center', behavior: 'instant'})")
    place = surface.evaluate(
        "(surface, name) => surface.picture.placeOf(surface.picture.scene.nodeByName.get(name))", node
    )
    return place["x"], place["y"]


def drag(page: Page, operator: Locator, node: str) -> None:
    """Drag an operator onto a node of the map."""
    place_of(page, node)
    box = operator.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    x, y = place_of(page, node)
    page.mouse.move(x - 30, y - 30, steps=3)
    page.mouse.move(x, y, steps=3)
    page.mouse.up()


def tile(page: Page, name: str) -> Locator:
    """A metric's tile."""
    return page.locator(".tile").filter(has=page.get_by_text(name, exact=True)).locator("dd")


def too_wide(page: Page) -> bool:
    """Whether the page is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


def another_node(page: Page) -> tuple[str, str]:
    """The first instance that may move, and a node where it isn't."""
    select = page.locator("select[data-instance]:enabled").first
    node: str = select.evaluate(
        "one => [...one.options].map((option) => option.value).find((value) => value !== one.value)"
    )
    return str(select.get_attribute("data-instance")), node
