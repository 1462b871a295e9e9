"""The report of a watch as one page: the timeline, every plan as a picture, what happened and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berth.drawing.picture import draw
from berth.evaluation import evaluate
from berth.files import load_plan

if TYPE_CHECKING:
    from berth.model import Problem
    from berth.runtime.control.history import Event

MOST_PLANS = 12
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #22303c }
body { max-width: 70rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% } th { text-align: left; font-weight: 600 }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid #dde3e8; vertical-align: top }
td.number { text-align: right; white-space: nowrap } svg { max-width: 100%; height: auto }
"""


def page_of(
    place: Path, problem: Problem, events: Sequence[Event], document: dict[str, Any], timeline: bytes
) -> str:
    """The page, pictures and all, in one file.

    Args:
        place: the folder of the watch, with its plans.
        problem: as it is known now.
        events: of this watch.
        document: what `report.json` says.
        timeline: the picture over time, SVG.
    """
    name = escape(str(document["application"]))
    parts = [f"<h1>{name}: watched for {document['seconds']:.0f} s</h1>", f"<p>{_summary(document)}</p>"]
    parts += ["<h2>Over time</h2>", _svg(timeline), "<h2>What happened</h2>", _history(events)]
    parts += ["<h2>Operators</h2>", _operators(document), *_plans(place, problem, events)]
    head = f'<meta charset="utf-8"><title>{name}</title><style>{_STYLE}</style>'
    return (
        f"<!doctype html>\n<html lang=en><head>{head}</head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _summary(document: dict[str, Any]) -> str:
    latency, placement = document["latency_ms"], document["placement"]
    words = [f"{document['batches']:,} batches, {document['rows']:,} rows."]
    if latency and latency.get("p50") is not None:
        words.append(f"Half of the batches took up to {latency['p50'] / 1000:.2f} s from source to sink.")
    differences = len(placement["differences"])
    where = "all on their planned nodes" if not differences else f"{differences} not where planned"
    words.append(f"{placement['verified_tasks']:,} tasks told where they ran: {where}.")
    return escape(" ".join(words))


def _history(events: Sequence[Event]) -> str:
    rows = []
    for event in events:
        if event.event in ("looked", "kept", "waited"):
            continue
        at = datetime.fromtimestamp(event.time, UTC).strftime("%H:%M:%S")
        moved = ", ".join(f"{name}: {old} → {new}" for name, (old, new) in event.moved.items())
        pause = "" if event.pause_s is None else f"{event.pause_s:.1f} s"
        gain = "" if event.gain is None else f"{event.gain:.0%}"
        reason = " ".join(filter(None, (event.node, event.reason)))
        cells = [at, event.event, reason, moved]
        rows.append(_row(cells, [gain, pause]))
    return _table(["time (UTC)", "event", "reason", "moved"], ["gain", "pause"], rows)


def _operators(document: dict[str, Any]) -> str:
    rows = [
        _row(
            [each["operator"], ", ".join(each["nodes"])],
            [f"{each['rows_in']:,}", f"{each['rows_out']:,}", f"{each['busy_ms'] / 1000:,.1f} s"],
        )
        for each in document["operators"]
    ]
    return _table(["operator", "node"], ["rows in", "rows out", "busy"], rows)


def _plans(place: Path, problem: Problem, events: Sequence[Event]) -> list[str]:
    """Each plan that ran, judged and drawn under the problem as it is known now."""
    ran = ("started", "migrated", "rolled back")
    numbers = dict.fromkeys(event.plan for event in events if event.event in ran and event.plan is not None)
    parts = []
    for number in list(numbers)[-MOST_PLANS:]:
        plan = load_plan(place / "plans" / f"{number:04}.json")
        judged = evaluate(problem, plan)
        shown = replace(plan, metrics=judged.metrics, violations=judged.violations)
        parts += [f"<h2>Plan {number}</h2>", _svg(draw(problem, shown, "svg"))]
    return parts


def _svg(picture: bytes) -> str:
    """A picture inside of a page: without the head of a file of its own."""
    text = picture.decode()
    return f"<div>{text[text.index('<svg') :]}</div>"


def _table(texts: Sequence[str], numbers: Sequence[str], rows: Sequence[str]) -> str:
    heads = "".join(f"<th>{escape(text)}</th>" for text in [*texts, *numbers])
    return f"<table><tr>{heads}</tr>{''.join(rows)}</table>"


def _row(texts: Sequence[str], numbers: Sequence[str]) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
    return f"<tr>{cells}" + "".join(f'<td class="number">{escape(text)}</td>' for text in numbers) + "</tr>"
