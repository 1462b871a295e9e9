"""Parts of a page: elements whose text is escaped, tables, figures within the page itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape

from berth.experiments.experiment import Verdict

SIGNS = {Verdict.REPRODUCED: "✓", Verdict.ORDERING_ONLY: "≈", Verdict.NOT_REPRODUCED: "✗"}
LARGEST_SVG = 600_000
"""Bytes; above, the picture made of dots is in the page, which stays quick on a phone."""


class Html(str):
    """Text that is HTML already."""


def element(tag: str, *inside: str, **attributes: str) -> Html:
    """An element; `class_` is the attribute class, `data_label` is data-label."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"' for name, value in attributes.items()
    )
    return Html(f"<{tag}{named}>{''.join(map(_written, inside))}</{tag}>")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()) -> Html:
    """A table; on a narrow screen each row becomes a list of its cells."""
    kinds = ["number" if position in numbers else "text" for position in range(len(columns))]
    head = element(
        "thead",
        element("tr", *(element("th", name, class_=kind) for name, kind in zip(columns, kinds, strict=True))),
    )
    body = [
        element(
            "tr",
            *(
                element("td", cell, class_=kind, **({"data_label": name} if name else {}))
                for name, kind, cell in zip(columns, kinds, row, strict=True)
            ),
        )
        for row in rows
    ]
    return element("table", head, element("tbody", *body), class_="stacked")


def facts(items: Iterable[tuple[str, str]]) -> Html:
    """Names and values."""
    pairs = [part for name, value in items for part in (element("dt", name), element("dd", value))]
    return element("dl", *pairs, class_="facts")


def badge(verdict: Verdict, count: int | None = None) -> Html:
    """A verdict in a colour and in words, or how many of them there are."""
    sign = SIGNS[verdict] if count is None else f"{count:,}"
    return element("span", f"{sign} {verdict.value}", class_=f"verdict {verdict.value.replace(' ', '-')}")


def badges(counts: Iterable[tuple[Verdict, int]]) -> Html:
    """How many of each verdict there are, without those that there are none of."""
    return Html(" ".join(badge(verdict, count) for verdict, count in counts if count))


def picture(figures: dict[str, bytes], about: str) -> Html:
    """A figure, with its file in the page."""
    form = "svg" if len(figures["svg"]) <= LARGEST_SVG else "png"
    kind = {"svg": "image/svg+xml", "png": "image/png"}[form]
    source = f"data:{kind};base64,{b64encode(figures[form]).decode()}"
    return Html(f'<img src="{source}" alt="{escape(about)}">')


def _written(part: str) -> str:
    return part if isinstance(part, Html) else escape(part)
