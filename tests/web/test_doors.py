"""People, tokens and TLS as a process: what a client sees when a token goes, and what goes over the wire."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from berth.cli import serve as command
from berth.model import BadInput
from berth.web.people import add_token, revoke_token, tokens_of
from berth.web.serve import check_certificate
from tests.cli.in_process import run_berth
from tests.web.conftest import API
from tests.web.test_serve import ready, serving


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_open_streams_end_with_the_token(workspace: Path) -> None:
    """The answer ends as it should, the next one is refused; a stream of somebody else goes on."""
    (workspace / "app.run").mkdir()
    (workspace / "app.run" / "history.jsonl").write_text('{"event": "started"}\n')
    anna, bo = (add_token(workspace, name, "viewer") for name in ("anna", "bo"))
    ended = threading.Event()

    def follow() -> None:
        with ready(address) as client, client.stream("GET", where, headers=bearer(bo)) as events:
            for _ in events.iter_lines():
                pass
        ended.set()

    with serving(workspace, "--port", "0") as (process, address), ready(address) as client:
        where = f"{API}/runs/app.run/events"
        other = threading.Thread(target=follow, daemon=True)
        other.start()
        with client.stream("GET", where, headers=bearer(anna)) as events:
            lines = events.iter_lines()
            next(lines)
            revoke_token(workspace, "anna")
            # it comes to its end; a connection that breaks off would raise
            list(lines)
        assert client.get(where, headers=bearer(anna)).status_code == 401
        assert not ended.is_set()
        revoke_token(workspace, "bo")
        other.join(30)
        assert ended.is_set()
        process.terminate()
        process.wait(30)
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that vouches for itself, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed: no certificate to serve with")
    folder = tmp_path_factory.mktemp("tls")
    return self_signed(folder, "one")


def self_signed(folder: Path, name: str, *more: str) -> tuple[Path, Path]:
    files = folder / f"{name}.pem", folder / f"{name}.key"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2", *(more or ["-nodes"])]
    out = ["-out", str(files[0]), "-keyout", str(files[1])]
    subprocess.run(["openssl", "req", "-x509", *kind, *subject, *out], check=True, capture_output=True)
    return files


def test_by_tls(workspace: Path, certificate: tuple[Path, Path]) -> None:
    """The address says so, the cookie goes over TLS alone, and nothing is answered without it."""
    token = add_token(workspace, "anna", "planner")
    files = ["--tls-cert", str(certificate[0]), "--tls-key", str(certificate[1])]
    trusted = ssl.create_default_context(cafile=str(certificate[0]))
    with serving(workspace, "--port", "0", *files) as (_, address):
        assert address.startswith("https://127.0.0.1:")
        with httpx.Client(base_url=address, verify=trusted, timeout=30) as client:
            headers = {"Origin": address}
            entered = client.post("/login", data={"token": token}, headers=headers)
            cookie = entered.headers["set-cookie"]
            for part in ("Secure", "HttpOnly", "SameSite=strict", "Max-Age=43200"):
                assert part in cookie
            assert client.get(f"{API}/me").json()["name"] == "anna"
            evil = {"Origin": "https://evil.example"}
            assert client.post(f"{API}/examples/tag-and-count", headers=evil).status_code == 403
        with httpx.Client(timeout=30) as plain, pytest.raises(httpx.HTTPError):
            plain.get(address.replace("https", "http") + "/login")


def test_certificates_that_will_not_do(certificate: tuple[Path, Path], tmp_path: Path) -> None:
    """Which option, which file, and what to do."""
    good, key = certificate
    other, other_key = self_signed(tmp_path, "two")
    closed, closed_key = self_signed(tmp_path, "closed", "-passout", "pass:hush")
    check_certificate(good, key)
    readable = tmp_path / "readable.key"
    shutil.copy(key, readable)
    readable.chmod(0o644)
    for given, words in (
        ((tmp_path / "none.pem", key), "--tls-cert .*none.pem: no such file"),
        ((good, tmp_path / "none.key"), "--tls-key .*none.key: no such file"),
        ((good, other_key), "--tls-key .*two.key: is not the key of .*one.pem"),
        ((other, key), "is not the key of"),
        ((key, key), "no certificate and key in PEM"),
        ((good, good), "chmod 600|no certificate and key in PEM"),
        ((closed, closed_key), "has a password"),
        ((good, readable), "chmod 600"),
        ((tmp_path, key), "--tls-cert .*: is a directory"),
    ):
        with pytest.raises(BadInput, match=words):
            check_certificate(*given)


def commanded(*arguments: str) -> None:
    command.serve(list(arguments), standalone_mode=False)


def test_who_may_not_begin(workspace: Path) -> None:
    """Half of a certificate; all tokens revoked; options that would be lost."""
    where = ["--workspace", str(workspace)]
    for arguments, words in (
        ([*where, "--tls-cert", "x.pem"], "--tls-key"),
        ([*where, "--session-hours", "0"], "--session-hours"),
        ([*where, "--proxy", "proxy.example"], "--proxy: 'proxy.example' is no address"),
        ([*where, "--host", "0.0.0.0"], "token add NAME"),
        ([*where, "token", "list"], "--workspace: stands before 'token'"),
        (["--port", "1", "token", "add", "anna", "--role", "admin"], "--port: stands before"),
    ):
        with pytest.raises(BadInput, match=words):
            commanded(*arguments)
    add_token(workspace, "anna", "viewer")
    revoke_token(workspace, "anna")
    with pytest.raises(BadInput, match="every token is revoked"):
        commanded(*where, "--port", "0")


def test_beyond_this_machine_without_tls(workspace: Path) -> None:
    """It is said that others can read along; a named token is enough to begin."""
    add_token(workspace, "anna", "viewer")
    with serving(workspace, "--port", "0", "--host", "0.0.0.0") as (process, address):
        assert address.startswith("http://0.0.0.0:")
        assert process.stderr is not None
        assert "--tls-cert" in process.stderr.readline()


def test_tokens_by_command(workspace: Path) -> None:
    """The token alone on standard output, this once; who has one as a table and as JSON."""
    where = ["--workspace", str(workspace)]
    added = run_berth("serve", "token", "add", "anna", "--role", "planner", *where)
    assert (added.returncode, added.stdout.count("\n")) == (0, 1)
    assert added.stdout.startswith("berth_")
    assert "anna (planner)" in added.stderr
    run_berth("serve", "token", "add", "vi", "--role", "viewer", "--expires", "30d", *where)
    shown = run_berth("serve", "token", "list", *where).stdout
    assert "anna" in shown
    assert added.stdout.strip() not in shown
    found: Any = json.loads(run_berth("serve", "token", "list", "--json", *where).stdout)
    assert [(each["name"], each["role"], each["expires"] is None) for each in found] == [
        ("anna", "planner", True),
        ("vi", "viewer", False),
    ]
    assert run_berth("serve", "token", "revoke", "anna", *where).returncode == 0
    assert [each.name for each in tokens_of(workspace)] == ["vi"]
    for arguments, line in (
        (["revoke", "anna", *where], "NAME: no token named 'anna'"),
        (["add", "x", "--role", "viewer", "--expires", "soon", *where], "--expires: 'soon'"),
        (["list", "--workspace", "/nowhere"], "--workspace /nowhere: no such folder"),
    ):
        done = run_berth("serve", "token", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(line)
