"""A network of 500 nodes on Earth and 200 operators: drawn, moved and asked."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

NODES, OPERATORS, LAYER = 500, 200, 20


def _large() -> dict[str, object]:
    chance = random.Random(1)
    nodes = [
        {
            "name": f"node-{number}",
            "capacity": {"cpu": chance.choice([4, 8, 16])},
            "coordinates": [(longitude := chance.uniform(-120, 150)), (latitude := chance.uniform(-40, 60))],
            "labels": {"lat": round(latitude, 2), "lon": round(longitude, 2)},
        }
        for number in range(NODES)
    ]
    operators = [
        {"name": f"step-{number}", "demand": {"cpu": 1}, "work_ms": 1} for number in range(OPERATORS)
    ]
    streams = [
        {"from": f"step-{number - LAYER}", "to": f"step-{number}"} for number in range(LAYER, OPERATORS)
    ]
    application = {"name": "flow", "operators": operators, "streams": streams}
    return {"format": "berth/v1", "name": "large", "network": {"nodes": nodes}, "applications": [application]}


def test_a_large_network(open_page: Callable[..., Page], workspace: Path) -> None:
    (workspace / "large.json").write_text(json.dumps(_large()))
    page = open_page("#/problems/large.json")
    expect(page.locator(".operator")).to_have_count(OPERATORS)
    surface = page.locator(".map .surface")
    assert surface.evaluate("surface => surface.picture.scene.geographic")
    surface.hover()
    scale = surface.evaluate("surface => surface.picture.camera.scale")
    for _ in range(5):
        page.mouse.wheel(0, -120)
    surface.evaluate(
        """(surface, scale) => new Promise((done) => {
            const look = () => (surface.picture.camera.scale > scale ? done() : requestAnimationFrame(look));
            look();
        })""",
        scale,
    )
    expect(surface).to_have_attribute("data-paint-ms", re.compile(r"\d"))
    box = surface.bounding_box()
    assert box is not None
    before = surface.evaluate("surface => surface.picture.camera.x")
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 200, steps=3)
    page.mouse.up()
    assert surface.evaluate("surface => surface.picture.camera.x") > before
