"""What `berth run` refuses before Spark is started: one line each, exit code 2, and nothing left behind."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from berth.files.document import held
from berth.runtime.cluster.nodes import resource_name
from tests.cli.test_commands import Done, berth

APPLICATION = """
from berth.runtime import Application

app = Application("line")


@app.source
def lines(spark):
    return spark.readStream.text("lines")


@app.operator(parallelism=2)
def upper(lines):
    return lines.selectExpr("upper(value) AS value")


@app.sink
def store(upper, batch_id):
    upper.write.mode("overwrite").text(f"out/batch={batch_id}")
"""
PLAN = {"lines": "rome", "upper#0": "paris-1.eu", "upper#1": "rome", "store": "paris-1.eu"}
NOWHERE = "spark://127.0.0.1:9"


class Folder:
    """An application with its problem and plan, to be changed by a test."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.app = path / "app.py"
        self.out = path / "out"
        self.app.write_text(APPLICATION)
        self.problem = {
            "format": "berth/v1",
            "name": "two",
            "network": {
                "nodes": [{"name": "rome"}, {"name": "paris-1.eu"}, {"name": "store", "hosts": False}],
                "links": [
                    {"from": "rome", "to": "paris-1.eu", "delay_ms": 5},
                    {"from": "rome", "to": "store", "delay_ms": 5},
                ],
            },
            "applications": [
                {
                    "name": "line",
                    "operators": [{"name": "lines"}, {"name": "upper", "parallelism": 2}, {"name": "store"}],
                    "streams": [{"from": "lines", "to": "upper"}, {"from": "upper", "to": "store"}],
                }
            ],
        }

    def arguments(self, *options: str, **homes: str | None) -> list[str]:
        """Of the command; `homes` change the plan: `upper_0` is `upper#0`, None takes an instance out."""
        changed = PLAN | {name.replace("_", "#"): home for name, home in homes.items()}
        assignment = {f"line/{name}": home for name, home in changed.items() if home is not None}
        plan = {"format": "berth-plan/v1", "problem": "two", "assignment": assignment}
        (self.path / "plan.json").write_text(json.dumps(plan))
        (self.path / "problem.json").write_text(json.dumps(self.problem))
        files = ["--problem", str(self.path / "problem.json"), "--plan", str(self.path / "plan.json")]
        return ["run", str(self.app), *files, "--out", str(self.out), *options]

    def run(self, *options: str, **homes: str | None) -> Done:
        return berth(*self.arguments(*options, **homes))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("BERTH_HOME", str(tmp_path / "home"))
    return Folder(tmp_path)


@contextmanager
def master_page(**memory_mb: int) -> Iterator[str]:
    """The page of a master with a worker for each node: `paris` stands for `paris-1.eu`."""
    names = {"paris": "paris-1.eu"}
    workers = [
        {
            **{"state": "ALIVE", "host": "127.0.0.1", "port": 1, "cores": 3, "coresused": 0},
            **{"memory": size, "memoryused": 0, "resourcesused": {}},
            "resources": {resource_name(names.get(name, name)): {"addresses": ["0", "1", "2"]}},
        }
        for name, size in memory_mb.items()
    ]
    document = json.dumps({"url": NOWHERE, "workers": workers, "activeapps": []}).encode()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(document)

        def log_message(self, format: str, *arguments: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def lines_of(done: Done) -> list[str]:
    """What was complained about; nothing is printed, and the code says that the input is bad."""
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr.splitlines()


@pytest.mark.parametrize(
    ("homes", "line"),
    [
        ({"store": None}, "plan: line/store: not placed"),
        ({"upper_1": "oslo"}, "plan: line/upper#1: no node named 'oslo' in the problem"),
        ({"uper_1": "rome"}, "plan: line/uper#1: the application has no such instance; did you mean "),
        ({"upper": "rome"}, "plan: line/upper: the application has no such instance; did you mean "),
    ],
)
def test_a_plan_that_does_not_fit(folder: Folder, homes: dict[str, str | None], line: str) -> None:
    """The instance is named, and no folder is made."""
    (found,) = lines_of(folder.run(**homes))
    assert found.startswith(line)
    assert not folder.out.exists()


def test_every_mistake_of_a_plan_is_told_at_once(folder: Folder) -> None:
    assert lines_of(folder.run(lines=None, upper_0="oslo", upper_2="rome")) == [
        "plan: line/lines: not placed",
        "plan: line/upper#0: no node named 'oslo' in the problem",
        "plan: line/upper#2: the application has no such instance; did you mean 'line/upper#1'?",
    ]


def test_a_problem_of_another_shape(folder: Folder) -> None:
    """What differs is named, and how to get the right one."""
    folder.problem["applications"][0]["streams"][1] = {"from": "lines", "to": "store"}
    assert lines_of(folder.run()) == [
        "stream upper to store: in the application, not in the problem",
        "stream lines to store: in the problem, not in the application",
        "berth describe prints what a problem has to say of an application",
    ]


def test_nodes_without_their_resource(folder: Folder) -> None:
    """A line for each, before anything waits for an executor that can't come."""
    with master_page(tokyo=1024) as page:
        lines = lines_of(folder.run("--master", NOWHERE, "--master-ui", page))
    assert [line.partition(";")[0] for line in lines] == [
        f"node rome: no worker at {NOWHERE} offers 'node_rome'",
        f"node paris-1.eu: no worker at {NOWHERE} offers 'node_paris-1_x2e_eu'",
    ]


def test_a_node_that_hosts_nothing(folder: Folder) -> None:
    with master_page(rome=1024, paris=1024) as page:
        (line,) = lines_of(folder.run("--master", NOWHERE, "--master-ui", page, store="store"))
    assert line.startswith("node store: ") or line.startswith("plan: line/store: ")


def test_too_little_memory(folder: Folder) -> None:
    """The nodes whose worker can't hold an executor of that size."""
    with master_page(rome=4096, paris=512) as page:
        options = ["--master", NOWHERE, "--master-ui", page, "--executor-memory", "2g"]
        assert lines_of(folder.run(*options)) == [
            "node paris-1.eu: its worker has 512 MB, an executor needs 2048 MB"
        ]


def test_a_page_that_is_no_master(folder: Folder) -> None:
    (line,) = lines_of(folder.run("--master", NOWHERE, "--master-ui", "http://127.0.0.1:9"))
    assert "http://127.0.0.1:9" in line


def test_a_master_that_nobody_answers_at(folder: Folder) -> None:
    """In seconds; in a process of its own, as a session that is there would be taken."""
    command = [sys.executable, "-m", "berth.cli.entry", *folder.arguments("--master", NOWHERE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"master '{NOWHERE}': nobody answers there")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--master", "local[2]"], "--master local[2]: has no workers to pin operators to; leave it out"),
        (["--for", "-1"], "--for: -1.0 is no number above 0"),
        (["--for", "nan"], "--for: nan is no number above 0"),
        (["--batch-every", "inf"], "--batch-every: inf is no number from 0 on"),
        (["--emulate-network", "-2"], "--emulate-network: -2.0 is no number from 0 on"),
        (["--conf", "memory"], "--conf memory: expected key=value"),
    ],
)
def test_options_that_make_no_sense(folder: Folder, options: list[str], line: str) -> None:
    assert lines_of(folder.run(*options)) == [line]


@pytest.mark.parametrize("size", ["lots", "", "1.5g", "512", "m", "0m", "-5m"])
def test_sizes_that_make_no_sense(folder: Folder, size: str) -> None:
    with master_page(rome=4096, paris=4096) as page:
        options = ["--master", NOWHERE, "--master-ui", page, "--executor-memory", size]
        (line,) = lines_of(folder.run(*options))
    assert line.startswith(f"executor memory: '{size}' ")


def test_a_folder_that_another_run_writes_to(folder: Folder) -> None:
    with held(folder.out), master_page(rome=1024, paris=1024) as page:
        (line,) = lines_of(folder.run("--master", NOWHERE, "--master-ui", page))
    assert line == f"{folder.out}: another run is writing there; wait for it or take another folder"


def test_a_folder_that_can_not_be_written(folder: Folder) -> None:
    folder.out.write_text("a file")
    with master_page(rome=1024, paris=1024) as page:
        (line,) = lines_of(folder.run("--master", NOWHERE, "--master-ui", page))
    assert line == f"{folder.out}: can't be written: file exists"


def test_fresh_does_not_forget_what_another_run_writes(folder: Folder) -> None:
    """The folder has to be held before anything in it is dropped."""
    with held(folder.out), master_page(rome=1024, paris=1024) as page:
        kept = folder.out / "checkpoint" / "offsets" / "0"
        kept.parent.mkdir(parents=True)
        kept.write_text("of another run")
        lines_of(folder.run("--master", NOWHERE, "--master-ui", page, "--fresh"))
        assert kept.exists()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import nothing_of_the_kind", "line 1: ModuleNotFoundError: "),
        ("\nnumber = 1 // 0", "line 2: ZeroDivisionError: "),
        ("def (", "line 1: SyntaxError: "),
        ("number = 1", "no Application in it"),
        ("raise SystemExit(3)", "line 1: SystemExit: 3"),
        (APPLICATION + "\nother = Application('other')\n", "has app, other; say which application"),
    ],
)
def test_files_that_are_no_application(folder: Folder, text: str, line: str) -> None:
    """With the line of the user's own file where there is one."""
    folder.app.write_text(text)
    assert any(line in found and found.startswith(str(folder.app)) for found in lines_of(folder.run()))
