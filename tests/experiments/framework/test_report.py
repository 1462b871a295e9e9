import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from berth.experiments.experiment import Setting, Verdict
from berth.experiments.framework.journal import Stored
from berth.experiments.framework.missing import state_of
from berth.experiments.framework.outcome import Outcome, all_judged, judged, outcome_of
from berth.experiments.framework.report import (
    Provenance,
    measured_networks,
    picture_source,
    provenance_of,
    report,
    show,
)
from tests.experiments import toy
from tests.experiments.framework.runs import CHOSEN, add, done
from tests.experiments.toy import EXPERIMENT

SETTING = Setting(seed=3)
RUNS = list(EXPERIMENT.runs(SETTING))
VOID = {"meta", "img"}


class Page(HTMLParser):
    """Whether every element is closed where it should be, what is linked to, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.sources: list[str] = []
        self.words = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [values["href"] or ""] if "href" in values else []
        self.sources += [values["src"] or ""] if "src" in values else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture
def stored(tmp_path: Path) -> Stored:
    return Stored(tmp_path / "out")


@pytest.fixture
def provenance() -> Provenance:
    made = provenance_of(SETTING, "berth reproduce <all>", "--seed 3 --out 'a b'")
    return replace(made, made="2026-01-01 00:00 UTC")


def outcome(stored: Stored, setting: Setting = SETTING) -> Outcome:
    journal = stored.journal()
    state = state_of(CHOSEN, setting, journal)
    table = journal.table("X9.1", state.identity, [run.key for run in RUNS], EXPERIMENT.schema)
    return outcome_of(state, judged(CHOSEN.place, setting, table.to_pandas()))


def test_the_page_is_whole_and_needs_nothing_else(stored: Stored, provenance: Provenance) -> None:
    add(stored, done(SETTING))
    text = report([outcome(stored)], ["X9.2"], provenance)
    page = Page(text)
    assert not page.open
    assert len(page.ids) == len(set(page.ids))
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.sources)
    assert len(page.sources) == 1
    assert not re.search(r"https?:|<script|@import|url\(", text)


def test_a_newcomer_finds_everything(stored: Stored, provenance: Provenance) -> None:
    add(stored, done(SETTING))
    words = Page(report([outcome(stored)], ["X9.2"], provenance)).words
    for expected in [
        "2 claims: 1 reproduced, 0 ordering only, 1 not reproduced",
        "berth reproduce <all>",  # the command
        "berth reproduce X9.1 --seed 3 --out 'a b'",  # that of the figure
        "Not run in this setting: X9.2",
        "berth reproduce X9.2 --seed 3 --out 'a b'",
        "A toy: how far the mean of some random numbers is from a half.",
        "on no network at all & <so>",
        "Means of few & many <numbers>",
        "009, <Toy> & Sons, figure 1",
        "numbers <n>",
        "tuned to: nothing",
        "Pigs <b>fly</b>",
        "✗ not reproduced",
        "10 runs",
        "none failed",
        f"Spark {provenance.versions['Spark']}",
        "2026-01-01",
    ]:
        assert expected in words


def test_the_same_rows_give_the_same_bytes(stored: Stored, provenance: Provenance) -> None:
    rows = done(SETTING, seconds=1.5, processor_seconds=1.0)
    add(stored, rows)
    first = outcome(stored)
    other = Stored(stored.folder / "other")
    add(other, rows[4:])
    add(other, rows[:4])
    second = outcome(other)
    assert first.figures == second.figures
    assert report([first], [], provenance) == report([second], [], provenance)


def test_failures_are_in_every_claim(stored: Stored, provenance: Provenance) -> None:
    add(stored, done(SETTING, RUNS[:8]))
    add(stored, done(SETTING, RUNS[8:], rows=None, error="ValueError: <odd>\nmore lines"))
    found = outcome(stored)
    assert found.failures_line == "2 of 10 runs failed: ValueError: <odd>"
    assert all("2 of 10 runs failed and are not in the value" in claim.reason for claim in found.claims)
    assert not found.whole
    page = Page(report([found], [], provenance))
    assert not page.open
    assert "ValueError: <odd>" in page.words


def test_a_mistake_in_an_experiment_is_told(stored: Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    def draw(table: pd.DataFrame, figure: object, setting: Setting) -> str:
        raise KeyError("nothing")

    add(stored, done(SETTING))
    monkeypatch.setattr(toy, "EXPERIMENT", replace(EXPERIMENT, draw=draw))
    found = outcome(stored)
    assert found.mistake is not None
    assert found.mistake.startswith("KeyError: 'nothing' (test_report.py, line ")
    assert found.count(Verdict.NOT_REPRODUCED) == 1
    assert not found.figures


def test_no_row_is_no_verdict(stored: Stored) -> None:
    add(stored, done(SETTING, rows=None, error="boom"))
    found = outcome(stored)
    assert not found.claims
    assert found.mistake == "no run succeeded: there is nothing to judge or to draw"


def test_what_is_shown_is_of_one_setting(stored: Stored, provenance: Provenance) -> None:
    quick = Setting(quick=True, seed=3)
    add(stored, done(quick))
    shown = show(stored, [CHOSEN], quick, provenance)
    assert [len(item.state.runs) for item in shown.outcomes] == [3]
    assert pq.read_table(stored.folder / "X9.1" / "results").num_rows == 3
    assert (stored.folder / "X9.1" / "figure.png").read_bytes().startswith(b"\x89PNG")
    claims = pq.read_table(stored.folder / "claims").to_pylist()
    assert [claim["verdict"] for claim in claims][1] == "not reproduced"
    assert list(claims[0]) == ["experiment", "claim", "paper", "ours", "verdict", "reason"]
    # nothing is there of the other setting, and the shown one leaves
    assert show(stored, [CHOSEN], SETTING, provenance).not_run == ["X9.1"]
    assert not (stored.folder / "X9.1").exists()
    assert pq.read_table(stored.folder / "claims").num_rows == 0
    # its runs have stayed
    assert not show(stored, [CHOSEN], quick, provenance).not_run


def test_side_by_side_is_as_one_by_one() -> None:
    rows = [{"key": "a", "numbers": 1, "mean": mean} for mean in (0.1, 0.5, 0.9)]
    tables = [pd.DataFrame([row]) for row in rows]
    places = [CHOSEN.place] * 3
    alone = list(all_judged(places, SETTING, tables, most=1))
    assert list(all_judged(places, SETTING, tables, most=2)) == alone
    assert len({found.claims[0].ours for found in alone}) == 3


def test_large_drawings_are_shown_as_dots() -> None:
    assert picture_source({"svg": b"<svg/>", "png": b"p"}).startswith("data:image/svg+xml;base64,")
    assert picture_source({"svg": b" " * 10**6, "png": b"p"}) == "data:image/png;base64,cA=="


def test_all_text_is_escaped_but_no_element(stored: Stored, provenance: Provenance) -> None:
    add(stored, done(SETTING))
    text = report([replace(outcome(stored), caption='1 < 2 & "3"')], ['<X"9.2>'], provenance)
    assert "<figcaption>1 &lt; 2 &amp; &#34;3&#34;</figcaption>" in text
    assert "Pigs &lt;b&gt;fly&lt;/b&gt;" in text
    assert "&lt;X&#34;9.2&gt;" in text
    assert "<b>" not in text
    assert "&lt;td" not in text
    assert "&lt;span" not in text


def test_measured_networks_by_their_folders(tmp_path: Path) -> None:
    (tmp_path / "planetlab_490").mkdir()
    (tmp_path / "other").mkdir()
    assert measured_networks(tmp_path) == ("PlanetLab (planetlab_490)",)
    assert measured_networks(None) == ()
