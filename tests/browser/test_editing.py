"""Two people edit one file: nobody's work is lost in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.parametrize(
    ("choice", "kept"),
    [
        ("Take theirs, drop mine", "# of the first\n"),
        ("Overwrite theirs with mine", "# of the second\n"),
        ("Save mine as a new file", "# of the first\n"),
    ],
)
def test_two_editors(
    choice: str, kept: str, open_page: Callable[..., Page], stored: Callable[[str, str], str], workspace: Path
) -> None:
    file = stored("two-source-join", f"shared-{choice.split()[0].lower()}")
    pages = [open_page(f"#/problems/{file}/edit") for _ in range(2)]
    for page, line in zip(pages, ("# of the first\n", "# of the second\n"), strict=True):
        area = page.get_by_role("textbox", name=f"Text of {file}")
        area.fill(line + area.input_value())
    first, second = pages
    first.get_by_role("button", name="Save", exact=True).click()
    expect(first.get_by_text("saved", exact=True)).to_be_visible()
    second.get_by_role("button", name="Save", exact=True).click()
    dialogue = second.get_by_role("dialog")
    expect(dialogue.get_by_text("# of the first")).to_be_visible()
    expect(dialogue.get_by_text("# of the second")).to_be_visible()
    dialogue.get_by_role("button", name=choice).click()
    if choice.startswith("Save"):
        second.get_by_role("dialog").get_by_role("button", name="Save").click()
        copy = file.replace(".yaml", "-copy.yaml")
        expect(second.get_by_role("textbox", name=f"Text of {copy}")).to_be_visible()
        assert (workspace / copy).read_text().startswith("# of the second\n")
    else:
        expect(second.get_by_text("saved", exact=True)).to_be_visible()
        expect(second.get_by_role("textbox", name=f"Text of {file}")).to_have_value(
            (workspace / file).read_text()
        )
    assert (workspace / file).read_text().startswith(kept)


def test_names_are_text_and_never_markup(open_page: Callable[..., Page], workspace: Path) -> None:
    text = """format: berth/v1
name: <img>
network:
  nodes:
    - {name: <b>bold, capacity: {cpu: 2}, labels: {note: "<script>1</script><img src=x onerror=alert(1)>"}}
applications:
  - name: <i>app
    operators:
      - {name: <u>step, demand: {cpu: 1}, work_ms: 1}
"""
    (workspace / "markup.yaml").write_text(text)
    page = open_page("#/problems/markup.yaml")
    page.on("dialog", lambda dialogue: pytest.fail(f"markup ran: {dialogue.message}"))
    expect(page.locator(".operator")).to_have_count(1)
    page.locator(".map .surface").focus()
    page.keyboard.press("n")
    expect(page.get_by_role("tooltip")).to_contain_text("<b>bold")
    expect(page.get_by_role("tooltip")).to_contain_text("onerror=alert(1)")
    assert page.locator("main :is(img, b, i, u, script), .tooltip :is(img, b, script)").count() == 0


def test_leaving_with_unsaved_changes_asks(
    open_page: Callable[..., Page], stored: Callable[[str, str], str]
) -> None:
    file = stored("two-source-join", "unsaved")
    page = open_page(f"#/problems/{file}/edit")
    asked: list[str] = []
    page.on("dialog", lambda dialogue: (asked.append(dialogue.message), dialogue.dismiss()))
    area = page.get_by_role("textbox", name=f"Text of {file}")
    area.fill("# mine\n" + area.input_value())
    page.get_by_role("link", name="Jobs").click()
    expect(area).to_have_value(page.evaluate("document.querySelector('textarea').value"))
    assert asked == ["Your changes are not saved. Leave anyway?"]
