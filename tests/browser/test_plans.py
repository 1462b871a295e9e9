"""From a file to a plan of one's own: upload, mistake, fix, solve, drag, undo, save, compare."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from berth.amounts import milliseconds
from berth.evaluation import evaluate
from berth.files import load, load_plan
from tests.browser.conftest import ROOT
from tests.browser.steps import another_node, drag, place_of, solved, tile

if TYPE_CHECKING:
    from playwright.sync_api import Page

SEARCHING_MS = 90_000
"""A plan of `search` is there in a second; a crowded machine may take longer."""


def test_an_example_is_two_clicks_from_a_plan(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.locator(".examples").wait_for()
    if page.locator("details.examples").count():
        page.get_by_text("Examples", exact=True).click()
    page.get_by_role("button", name="Open the example tag-and-count").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tag-and-count.yaml")
    page.get_by_role("link", name="Find a plan").click()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Proved optimal.")).to_be_visible()
    expect(tile(page, "response time ◎")).to_have_text("31.8 ms")
    page.get_by_role("button", name="Explain this plan").click()
    expect(page.get_by_role("heading", name="Slowest path: 31.8 ms")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Plan for tag-and-count.yaml")


def test_an_upload_with_a_mistake_is_mended_in_the_editor(open_page: Callable[..., Page]) -> None:
    text = (ROOT / "examples" / "tag-and-count.yaml").read_text()
    wrong = re.sub(r"(?m)^name: .*$", "name: mended", text, count=1).replace("pinned: rome", "pinned: rmoe")
    page = open_page("#/problems")
    page.locator("input[type=file]").set_input_files(
        {"name": "mended.yaml", "mimeType": "application/yaml", "buffer": wrong.encode()}
    )
    page.get_by_role("button", name="Mend them in the editor").click()
    page.get_by_role("button", name=re.compile("pinned")).click()
    area = page.get_by_role("textbox", name="Text of mended.yaml")
    selected = area.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert "rmoe" in selected
    area.fill(wrong.replace("rmoe", "rome"))
    expect(page.get_by_role("heading", name="No mistakes")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    page.get_by_role("complementary").get_by_role("link", name="Find a plan").click()
    expect(page.get_by_role("button", name="Start")).to_be_enabled()


def test_a_file_without_its_first_line_is_no_dead_end(open_page: Callable[..., Page]) -> None:
    text = (ROOT / "examples" / "two-source-join.yaml").read_text().replace("format: berth/v1\n", "")
    page = open_page("#/problems")
    page.locator("input[type=file]").set_input_files(
        {"name": "no-format.yaml", "mimeType": "application/yaml", "buffer": text.encode()}
    )
    page.get_by_role("button", name="Mend them in the editor").click()
    mistake = page.get_by_role("button", name=re.compile("format"))
    expect(mistake).to_contain_text("as the first line")
    page.get_by_role("textbox", name="Text of no-format.yaml").fill(f"format: berth/v1\n{text}")
    expect(page.get_by_role("heading", name="No mistakes")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()


def test_a_wrong_parameter_is_told_at_its_field(
    open_page: Callable[..., Page], stored: Callable[[str, str], str]
) -> None:
    page = open_page(f"#/problems/{stored('tag-and-count', 'parameters')}/solve")
    page.get_by_label("Policy", exact=True).select_option("odp")
    page.get_by_text("Parameters of this policy").click()
    gap = page.get_by_label("gap", exact=True)
    gap.fill("-1")
    page.get_by_role("button", name="Start").click()
    expect(gap).to_have_attribute("aria-invalid", "true")
    expect(gap).to_be_focused()
    expect(page.locator(".field").filter(has=gap).get_by_role("alert")).not_to_be_empty()
    gap.fill("0.5")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("link", name="Change by hand")).to_be_visible()


def test_dropping_a_file_stores_it(open_page: Callable[..., Page]) -> None:
    text = (ROOT / "examples" / "two-source-join.yaml").read_text()
    page = open_page("#/problems")
    page.get_by_role("button", name="Upload a file").wait_for()
    page.evaluate(
        """text => {
            const files = new DataTransfer();
            files.items.add(new File([text], 'dropped.yaml'));
            const event = new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true});
            document.querySelector('main .stack').dispatchEvent(event);
        }""",
        text,
    )
    expect(page.get_by_role("heading", level=1)).to_have_text("dropped.yaml")


def test_what_is_dragged_is_judged_undone_saved_and_compared(
    open_page: Callable[..., Page], stored: Callable[[str, str], str]
) -> None:
    page = open_page()
    solved(page, stored("edge-pipeline", "dragged"))
    page.get_by_role("link", name="Change by hand").click()
    before = tile(page, "response time").inner_text()
    instance, node = another_node(page)
    operator = page.locator(f'[data-operator="{instance.split("#")[0]}"]')
    drag(page, operator, node)
    expect(tile(page, "response time")).not_to_have_text(before)
    expect(tile(page, "response time")).to_contain_text(re.compile("better|worse"))
    changed = tile(page, "response time").inner_text()
    page.get_by_role("button", name="Undo").click()
    expect(tile(page, "response time")).to_have_text(before)
    drag(page, operator, node)
    expect(tile(page, "response time")).to_have_text(changed, use_inner_text=True)
    page.get_by_role("button", name="Save as a plan").click()
    page.get_by_label("Name of the plan").fill("mine")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("mine.json")
    page.get_by_role("link", name="Compare").click()
    table = page.locator("table.comparison")
    expect(table.get_by_role("link", name="mine", exact=True)).to_be_visible()
    row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="response time", exact=True))
    expect(row.locator("td.best")).to_have_count(1)
    expect(page.get_by_role("img", name=re.compile("Not beaten in both"))).to_be_visible()


def test_what_if_a_node_goes(open_page: Callable[..., Page], stored: Callable[[str, str], str]) -> None:
    """A click on a node says what moves and how slow it gets; a button turns the page to what is left."""
    page = open_page()
    solved(page, stored("edge-pipeline", "losing"))
    before = tile(page, "response time ◎").inner_text()
    judged = page.locator(".map .surface").evaluate(
        """({picture: {scene, load}}) => scene.nodes[[...load.values()].find(({instances}) =>
            instances.some((name) => !scene.operatorOfInstance.get(name).pinned)).index].name"""
    )
    page.mouse.click(*place_of(page, judged))
    part = page.locator(".details .loss")
    expect(part.get_by_role("heading")).to_have_text(f"If {judged} goes")
    expect(part).to_contain_text(re.compile("response time|can't be told"))
    expect(part).to_contain_text(re.compile("urvived: "))
    then = re.search(r"response time ([\d.]+ m?s) instead of", part.inner_text())
    assert then is not None, part.inner_text()
    part.get_by_role("button", name="Show what is left").click()
    expect(part.get_by_role("button")).to_have_text("Show the plan again")
    expect(tile(page, "response time ◎")).to_contain_text(then[1])
    expect(page.get_by_text(f"after the loss of {judged}, slowest path {then[1]}")).to_be_visible()
    expect(page.get_by_text("Proved optimal.")).to_have_count(0)
    places = page.get_by_role("region", name=f"Where everything runs after the loss of {judged}")
    assert judged not in places.locator("td:nth-child(2)").all_inner_texts()
    page.get_by_role("button", name="Back to the plan").click()
    expect(part.get_by_role("button")).to_have_text("Show what is left")
    expect(tile(page, "response time ◎")).to_have_text(before)
    expect(page.get_by_text("Proved optimal.")).to_be_visible()


def test_goals_in_order(open_page: Callable[..., Page], stored: Callable[[str, str], str]) -> None:
    """Asked for with how near is near enough; the plan tells them."""
    problem = stored("tag-and-count", "ordered")
    page = open_page(f"#/problems/{problem}/solve")
    page.get_by_role("button", name="Add the next goal").click()
    page.get_by_label("then", exact=True).select_option("cost per hour")
    page.get_by_label("with the goal before it within").fill("5")
    with page.expect_request(lambda request: request.url.endswith("/jobs")) as asked:
        page.get_by_role("button", name="Start").click()
    sent = asked.value.post_data_json
    assert sent["objective"] == [{"response_time": 1}, {"cost_per_hour": 1}]
    assert sent["objective_within"] == [0.05]
    expect(page.get_by_text("goal: response time, then cost per hour")).to_be_visible()


def test_what_a_file_asks_for_is_told_and_explained(
    open_page: Callable[..., Page], stored: Callable[[str, str], str], workspace: Path
) -> None:
    problem = stored("tag-and-count", "surviving")
    text = re.sub(r"(?m)^objective:.*\n", "", (workspace / problem).read_text())
    asked = "objective: [{response_time: 1}, {traffic: 1}]\nobjective_within: [0.1]\nsurvive: node\n"
    (workspace / problem).write_text(text + asked)
    page = open_page(f"#/problems/{problem}")
    expect(page.get_by_text("Objective: response time within 10 %, then traffic.")).to_be_visible()
    expect(page.get_by_text("Plans survive the loss of any node.")).to_be_visible()
    page.goto(f"/#/problems/{problem}/solve")
    expect(page.get_by_label("with the goal before it within")).to_have_value("10")
    with page.expect_request(lambda request: request.url.endswith("/jobs")) as sent:
        page.get_by_role("button", name="Start").click()
    assert "objective" not in sent.value.post_data_json
    page.get_by_role("link", name="Change by hand").wait_for()
    page.get_by_role("button", name="Explain this plan").click()
    expect(page.get_by_text(re.compile(r"It survives \d+ of \d+ losses"))).to_be_visible()
    page.get_by_role("button", name=re.compile("what does survival cost")).click()
    expect(page.get_by_text(re.compile("That costs|That has not cost"))).to_be_visible(timeout=SEARCHING_MS)


def test_a_placement_that_only_lacks_a_failover_gets_one(
    open_page: Callable[..., Page], stored: Callable[[str, str], str], workspace: Path
) -> None:
    page = open_page()
    problem = stored("tag-and-count", "lacking")
    solved(page, problem)
    with (workspace / problem).open("a") as file:
        file.write("survive: node\n")
    page.reload()
    page.get_by_role("button", name="Explain this plan").click()
    expect(page.get_by_text("With this failover the same placement survives every loss")).to_be_visible()
    page.get_by_role("button", name="Save with this failover").click()
    page.get_by_label("Name of the plan").fill("found")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("found.json")
    expect(page.get_by_text("Keeps every constraint")).to_be_visible()
    assert load_plan(workspace / "found.json").failover


def test_plans_are_judged_by_the_problem_as_it_is_now(
    open_page: Callable[..., Page], stored: Callable[[str, str], str], workspace: Path
) -> None:
    """A plan of the problem before it was edited is marked; its old figures and proof are not shown."""
    page = open_page()
    problem = stored("tag-and-count", "edited")
    old = solved(page, problem)
    text = (workspace / problem).read_text()
    (workspace / problem).write_text(
        text.replace("[0.0, 12.4,", "[0.0, 20.4,").replace("[12.4, 0.0,", "[20.4, 0.0,")
    )
    changed = load(workspace / problem)
    solved(page, problem)
    page.get_by_role("link", name="Compare").click()
    expect(page.get_by_text(f"All judged by edited ({changed.fingerprint}), as it is now")).to_be_visible()
    picks = page.locator(".picks li")
    expect(picks).to_have_count(2)
    expect(picks.nth(0)).not_to_contain_text("version")
    expect(picks.nth(1)).to_contain_text("made for another version")
    table = page.locator("table.comparison")
    made_for = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="made for", exact=True))
    expect(made_for.locator("td")).to_have_text(["this version", "another version"])
    row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name="status", exact=True))
    expect(row.get_by_text("proved optimal")).to_have_count(1)
    page.goto(old)
    expect(page.get_by_text("Made for another version of this problem.")).to_be_visible()
    expect(page.get_by_text("Proved optimal.")).to_have_count(0)
    judged = evaluate(changed, load_plan(workspace / f"{old.split('/')[-1]}"))
    expect(tile(page, "response time ◎")).to_have_text(milliseconds(judged.metrics["response_time_ms"]))


def test_processors_that_do_not_keep_up_are_told(
    open_page: Callable[..., Page], stored: Callable[[str, str], str], workspace: Path
) -> None:
    """A warning on the plan's page and while it is changed; the node's cores and load in words."""
    page = open_page()
    problem = stored("tag-and-count", "busy")
    text = (workspace / problem).read_text()
    (workspace / problem).write_text(text.replace("emits_bytes_per_s: 1000}", "emits_bytes_per_s: 1.0e+6}"))
    solved(page, problem)
    warning = page.locator(".notice.warn")
    expect(warning).to_contain_text("node frankfurt: 40 processors needed, 2.2 there")
    page.locator('[data-operator="tag-and-count/tag"]').click()
    expect(page.locator(".details")).to_contain_text("each keeps up to 5 processors of speed 1 busy")
    x, y = place_of(page, "frankfurt")
    page.mouse.click(x, y)
    expect(page.locator(".details")).to_contain_text("2 cores, each of speed 1.1 × reference")
    expect(page.locator(".details")).to_contain_text("busy: 40 of 2.2 processors")
    page.get_by_role("link", name="Change by hand").click()
    expect(warning).to_contain_text("node frankfurt: 40 processors needed, 2.2 there")


def test_a_job_can_be_stopped_and_keeps_its_plan(
    open_page: Callable[..., Page], stored: Callable[[str, str], str]
) -> None:
    page = open_page(f"#/problems/{stored('edge-cameras', 'stopped')}/solve")
    page.get_by_label("Policy").select_option("search")
    page.get_by_label("Time limit").fill("40")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("img", name=re.compile("best plan so far"))).to_be_visible(timeout=SEARCHING_MS)
    page.get_by_role("button", name="Stop and keep the best plan").click()
    expect(page.get_by_role("link", name="Change by hand")).to_be_visible()


def test_what_can_not_be_kept_is_said_in_words(
    open_page: Callable[..., Page], stored: Callable[[str, str], str]
) -> None:
    page = open_page(f"#/problems/{stored('tag-and-count', 'hurried')}/solve")
    page.get_by_label("Slowest path at most").fill("1")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("no plan keeps all constraints")).to_be_visible()
    expect(page.get_by_role("link", name="Ask again with other settings")).to_be_visible()
