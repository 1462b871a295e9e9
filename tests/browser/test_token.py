"""Where a token is needed: the form, who is signed in with which role, and what happens when that ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from berth.web.people import Role, add_token, revoke_token
from tests.browser.conftest import PATIENCE_MS, ROOT, serving
from tests.browser.steps import solved

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

OWN = "a-token-that-is-long-enough-to-be-one"


@contextmanager
def context_at(browser: Browser, address: str) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=address)
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


def test_the_page_asks_for_the_token(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "token.txt").write_text(f"{OWN}\n")
    (tmp_path / "token.txt").chmod(0o600)
    (tmp_path / "workspace").mkdir()
    with (
        serving(tmp_path / "workspace", "--token-file", str(tmp_path / "token.txt")) as address,
        context_at(browser, address) as context,
    ):
        page = context.new_page()
        page.goto("/login")
        page.get_by_label("Token").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("That is not a token of this service.")
        page.get_by_label("Token").fill(OWN)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Problems")).to_be_visible()
        expect(page.locator("#me")).to_contain_text("owner admin")
        # the cookie is gone: the next thing that is asked for leads to the form, and from there back
        context.clear_cookies()
        page.get_by_role("link", name="Jobs").click()
        expect(page.get_by_label("Token")).to_be_visible()
        expect(page.get_by_role("alert")).to_contain_text("no longer signed in")
        page.get_by_label("Token").fill(OWN)
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Jobs")).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        page.goto("/")
        expect(page.get_by_label("Token")).to_be_visible()


@pytest.fixture
def people(browser: Browser, tmp_path: Path) -> Iterator[tuple[Path, Callable[[str, Role], Page]]]:
    """A workspace, and pages of people with a name and a role."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "night.yaml").write_text((ROOT / "examples" / "tag-and-count.yaml").read_text())
    add_token(workspace, "first", "viewer")
    contexts = []

    def signed_in(name: str, role: Role) -> Page:
        context = browser.new_context(base_url=address)
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto("/login")
        page.get_by_label("Token").fill(add_token(workspace, name, role))
        page.keyboard.press("Enter")
        expect(page.locator("#me")).to_contain_text(f"{name} {role}")
        return page

    with serving(workspace) as address:
        yield workspace, signed_in
        for context in contexts:
            context.close()


def test_what_a_role_may_not_is_not_offered(people: tuple[Path, Callable[[str, Role], Page]]) -> None:
    """A planner solves under their name; a viewer sees all of it, with the buttons that change things off."""
    _, signed_in = people
    anna = signed_in("anna", "planner")
    address = solved(anna, "night.yaml").partition("#")[2]
    expect(anna.get_by_text("stored by anna")).to_be_visible()
    vi = signed_in("vi", "viewer")
    expect(vi.get_by_role("button", name="Upload a file")).to_be_disabled()
    expect(vi.get_by_role("button", name="Find a plan for night.yaml")).to_be_disabled()
    expect(vi.get_by_role("button", name="Delete night.yaml")).to_be_disabled()
    vi.goto(f"/#{address}")
    expect(vi.get_by_text("stored by anna")).to_be_visible()
    expect(vi.get_by_role("button", name="Explain this plan")).to_be_disabled()
    vi.get_by_role("link", name="Change by hand").click()
    expect(vi.get_by_role("button", name="Save as a plan")).to_be_disabled()
    vi.goto("/#/problems/night.yaml/edit")
    expect(vi.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    expect(vi.get_by_label("Your name")).to_have_count(0)
    bo = signed_in("bo", "planner")
    for page, may in ((vi, False), (bo, False), (anna, True), (signed_in("boss", "admin"), True)):
        page.goto("/#/jobs")
        button = page.get_by_role("button", name="Forget this job of night.yaml")
        expect(page.get_by_text("by anna")).to_be_visible()
        if may:
            expect(button).to_be_enabled()
        else:
            expect(button).to_be_disabled()


def test_a_token_that_is_taken_away(people: tuple[Path, Callable[[str, Role], Page]]) -> None:
    """Whoever looks on is led to the form; whoever has unsaved text keeps it, and saves it once back."""
    workspace, signed_in = people
    (workspace / "app.run").mkdir()
    (workspace / "app.run" / "history.jsonl").write_text('{"event": "started"}\n')
    watching = signed_in("anna", "planner")
    watching.goto("/#/runs/app.run")
    expect(watching.get_by_text("started").first).to_be_visible()
    writing = signed_in("bo", "planner")
    writing.goto("/#/problems/night.yaml/edit")
    text = writing.get_by_label("Text of night.yaml")
    written = text.input_value() + "# by bo\n"
    text.fill(written)
    revoke_token(workspace, "anna")
    revoke_token(workspace, "bo")
    # nobody does anything: the stream ends, and its next try is refused
    expect(watching.get_by_label("Token")).to_be_visible()
    writing.get_by_role("button", name="Save", exact=True).click()
    expect(writing.get_by_role("alert").first).to_contain_text("no longer signed in")
    expect(text).to_have_value(written)
    again = writing.context.new_page()
    again.goto("/login")
    again.get_by_label("Token").fill(add_token(workspace, "bo", "planner"))
    again.keyboard.press("Enter")
    expect(again.locator("#me")).to_contain_text("bo planner")
    writing.get_by_role("button", name="Save", exact=True).click()
    expect(writing.get_by_text("Saved.").first).to_be_visible()
    assert (workspace / "night.yaml").read_text().endswith("# by bo\n")
