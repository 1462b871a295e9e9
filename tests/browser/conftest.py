"""A real service on a free port, a real browser, and what every test asks: no errors, no other hosts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 375, "height": 800}
PATIENCE_MS = 20_000


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@contextmanager
def serving(workspace: Path, *options: str) -> Iterator[str]:
    """The address of a service over a workspace."""
    command = [sys.executable, "-m", "berth.cli.entry", "serve", "--workspace", str(workspace), "--port", "0"]
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert process.stdout is not None
    said = ""
    try:
        for line in process.stdout:
            said += line
            found = re.search(r"http://[\w.]+:\d+", line)
            if found:
                yield found[0]
                break
        else:
            pytest.fail(f"the service didn't start: {said}")
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="session")
def service(workspace: Path) -> Iterator[str]:
    with serving(workspace) as address:
        yield address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip("no chromium here: make chromium installs it")
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=path, args=ARGUMENTS)


@pytest.fixture
def open_page(browser: Browser, service: str) -> Iterator[Callable[..., Page]]:
    """Opens pages of one's own, and holds at the end that none complained or asked another host."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []
    hosts: set[str | None] = set()

    def opened(address: str = "", size: dict[str, int] | None = None, **settings: Any) -> Page:
        context = browser.new_context(viewport=size or DESKTOP, base_url=service, **settings)  # type: ignore[arg-type]
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        page.goto(f"/{address}")
        return page

    yield opened
    for context in contexts:
        context.close()
    # a refusal that the page expects (412, 409, 422) is logged by the browser all the same
    unexpected = [text for text in complaints if not re.search(r"status of (409|412|422) ", text)]
    assert unexpected == []
    assert hosts <= {urlsplit(service).netloc}


@pytest.fixture
def stored(workspace: Path) -> Callable[[str, str], str]:
    """Puts a problem of the examples into the workspace under a name of the test's own."""

    def store(example: str, name: str) -> str:
        text = (ROOT / "examples" / f"{example}.yaml").read_text()
        (workspace / f"{name}.yaml").write_text(re.sub(r"(?m)^name: .*$", f"name: {name}", text, count=1))
        return f"{name}.yaml"

    return store
