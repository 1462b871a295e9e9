"""Where a token is needed: the form, a wrong token, the right one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE_MS, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_the_page_asks_for_the_token(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "token.txt").write_text("a-token-that-is-long-enough-to-be-one\n")
    (tmp_path / "token.txt").chmod(0o600)
    (tmp_path / "workspace").mkdir()
    with serving(tmp_path / "workspace", "--token-file", str(tmp_path / "token.txt")) as address:
        context = browser.new_context(base_url=address)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto("/login")
        page.get_by_label("Token").fill("wrong")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("That is not the token.")
        page.get_by_label("Token").fill("a-token-that-is-long-enough-to-be-one")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Problems")).to_be_visible()
        # the cookie is gone: the next thing that is asked for leads to the form
        context.clear_cookies()
        page.get_by_role("link", name="Jobs").click()
        expect(page.get_by_label("Token")).to_be_visible()
        context.close()
