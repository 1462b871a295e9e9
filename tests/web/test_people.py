"""Tokens and sessions: who is known, until when, and what is kept of it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from berth.model import BadInput
from berth.web.app import create_app
from berth.web.attempts import FORGOTTEN_AFTER_S, FREE, LONGEST_WAIT_S, Attempts
from berth.web.people import (
    OWNER,
    TOKENS,
    Caller,
    People,
    Sessions,
    Token,
    add_token,
    digest_of,
    lifetime,
    revoke_token,
    tokens_of,
)
from berth.web.security import Settings
from tests.web.conftest import API, PROBLEM

CHOSEN = "a-token-that-nobody-guesses"


class Clock:
    """Time that passes when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def asked(workspace: Path, **more: object) -> TestClient:
    settings = Settings(workspace=workspace, workers=1, **more)  # type: ignore[arg-type]
    return TestClient(create_app(settings), base_url="http://127.0.0.1", follow_redirects=False)


# the file


def test_only_a_hash_is_kept(workspace: Path) -> None:
    """In a file that is nobody else's, in a folder that is nobody else's."""
    before = os.umask(0)
    try:
        secret = add_token(workspace, "anna", "planner")
    finally:
        os.umask(before)
    file = workspace / ".berth" / TOKENS
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert secret.removeprefix("berth_") not in file.read_text()
    assert len(secret) > 43
    (token,) = tokens_of(workspace)
    assert token == Token("anna", "planner", digest_of(secret), token.created)
    add_token(workspace, "bo", "viewer")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["", " ", "a b", "-x", "owner", "Owner", "a/b", "x" * 81, "a\nb", "<b>"])
def test_names_that_will_not_do(workspace: Path, name: str) -> None:
    with pytest.raises(BadInput, match="NAME"):
        add_token(workspace, name, "viewer")


def test_one_token_for_each_name(workspace: Path) -> None:
    """Names that differ in case alone would be taken for each other."""
    add_token(workspace, "zoë", "viewer")
    with pytest.raises(BadInput, match="token revoke"):
        add_token(workspace, "ZOË", "admin")
    with pytest.raises(BadInput, match="did you mean 'zoë'"):
        revoke_token(workspace, "zoé")
    revoke_token(workspace, "zoe\u0308")
    assert tokens_of(workspace) == ()


@pytest.mark.parametrize(
    ("text", "seconds"), [("90m", 5400), ("12h", 43_200), ("30d", 2_592_000), ("1w", 604_800)]
)
def test_lifetimes(text: str, seconds: float) -> None:
    assert lifetime(text) == seconds


@pytest.mark.parametrize("text", ["", "0d", "d", "-1d", "1.5h", "30", "30 d", "4000d", "1y", "٣d٣"])
def test_no_lifetimes(text: str) -> None:
    with pytest.raises(BadInput, match="--expires"):
        lifetime(text)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("{}", 0o600),
        ("[]", 0o600),
        ("not json", 0o600),
        ('{"tokens": [{"name": "x"}]}', 0o600),
        ('{"tokens": [{"name": "x", "role": "god", "sha256": "00", "created": 0}]}', 0o600),
        ('{"tokens": []}', 0o640),
        ('{"tokens": []}', 0o602),
    ],
)
def test_a_file_that_will_not_do(workspace: Path, text: str, mode: int) -> None:
    """The command says so, and a service lets nobody in."""
    (workspace / ".berth").mkdir()
    file = workspace / ".berth" / TOKENS
    file.write_text(text)
    file.chmod(mode)
    with pytest.raises(BadInput, match=TOKENS):
        tokens_of(workspace)
    people = People(workspace / ".berth", None)
    assert not people.everybody
    assert people.with_secret("") is None
    with asked(workspace) as client:
        assert client.get(f"{API}/health").status_code == 401


def test_a_link_is_no_file_of_tokens(workspace: Path, tmp_path: Path) -> None:
    """Else whoever may write the folder could point it to another's tokens."""
    other = tmp_path / "other"
    other.mkdir()
    secret = add_token(other, "eve", "admin")
    (workspace / ".berth").mkdir()
    (workspace / ".berth" / TOKENS).symlink_to(other / ".berth" / TOKENS)
    assert People(workspace / ".berth", None).with_secret(secret) is None


# a running service


def test_whose_token(workspace: Path) -> None:
    """Each token has its name and role; the chosen one is the owner's."""
    tokens = {role: add_token(workspace, f"a-{role}", role) for role in ("viewer", "planner", "admin")}
    with asked(workspace, token=CHOSEN) as client:
        for role, secret in tokens.items():
            found = client.get(f"{API}/me", headers=bearer(secret)).json()
            assert found == {"name": f"a-{role}", "role": role, "by_token": True}
        found = client.get(f"{API}/me", headers=bearer(CHOSEN)).json()
        assert found == {"name": OWNER, "role": "admin", "by_token": True}


def test_without_tokens_everybody_is_the_owner(client: TestClient, workspace: Path) -> None:
    """Until the first token; and what was closed once does not open again."""
    assert client.get(f"{API}/me").json() == {"name": OWNER, "role": "admin", "by_token": False}
    secret = add_token(workspace, "anna", "viewer")
    assert client.get(f"{API}/me").status_code == 401
    assert client.get(f"{API}/me", headers=bearer(secret)).status_code == 200
    revoke_token(workspace, "anna")
    assert client.get(f"{API}/me").status_code == 401
    (workspace / ".berth" / TOKENS).unlink()
    assert client.get(f"{API}/me").status_code == 401


def test_tokens_are_nowhere_in_rest(workspace: Path) -> None:
    """Neither as a file nor as a table, whoever asks."""
    secret = add_token(workspace, "anna", "admin")
    with asked(workspace) as client:
        for path in (".berth~tokens.json", "=2Eberth~tokens.json", "..~workspace~.berth~tokens.json"):
            for kind in ("problems", "plans", "tables", "experiments", "runs"):
                assert client.get(f"{API}/{kind}/{path}", headers=bearer(secret)).status_code in (404, 422)
        link = workspace / "link.json"
        link.symlink_to(workspace / ".berth" / TOKENS)
        assert client.get(f"{API}/plans/link.json/file", headers=bearer(secret)).status_code == 404


def test_revoked_at_once(workspace: Path) -> None:
    """The token, and the session that began with it; those of others stay."""
    anna, bo = (add_token(workspace, name, "planner") for name in ("anna", "bo"))
    with asked(workspace) as client:
        entered = client.post("/login", data={"token": anna})
        assert entered.status_code == 303
        assert client.get(f"{API}/me").json()["name"] == "anna"
        revoke_token(workspace, "anna")
        assert client.get(f"{API}/me").status_code == 401
        assert client.get(f"{API}/me", headers=bearer(anna)).status_code == 401
        assert client.get(f"{API}/me", headers=bearer(bo)).json()["name"] == "bo"
        # the same name again is another token
        again = add_token(workspace, "anna", "planner")
        assert client.get(f"{API}/me").status_code == 401
        assert client.get(f"{API}/me", headers=bearer(again)).status_code == 200


def test_a_token_expires(workspace: Path) -> None:
    """And with it its sessions, which last no longer than it does."""
    clock = Clock()
    secret = add_token(workspace, "anna", "viewer", 100.0)
    clock.now = tokens_of(workspace)[0].created
    people = People(workspace / ".berth", None, clock)
    sessions = Sessions(people, 1000.0, clock)
    token = people.with_secret(secret)
    assert token is not None
    session, seconds = sessions.begin(token)
    assert seconds == pytest.approx(100)
    clock.now += 90
    assert sessions.who(session) == token
    clock.now += 11
    assert people.with_secret(secret) is None
    assert not people.knows(token)
    assert sessions.who(session) is None


def test_sessions_end(workspace: Path) -> None:
    """After their time, and when somebody signs out."""
    clock = Clock()
    people = People(workspace / ".berth", CHOSEN, clock)
    sessions = Sessions(people, 1000.0, clock)
    token = people.with_secret(CHOSEN)
    assert token is not None
    (first, seconds), (second, _) = sessions.begin(token), sessions.begin(token)
    assert (seconds, token.caller) == (1000.0, Caller(OWNER, "admin"))
    assert sessions.who("") is None
    sessions.end(first)
    assert (sessions.who(first), sessions.who(second)) == (None, token)
    clock.now += 1000
    assert sessions.who(second) is None


def test_signing_out(workspace: Path) -> None:
    """A copy of the cookie is worth nothing any more."""
    secret = add_token(workspace, "anna", "viewer")
    with asked(workspace) as client:
        client.post("/login", data={"token": secret})
        cookie = client.cookies["berth-session"]
        assert client.post("/logout", headers={"Origin": "http://evil.example"}).status_code == 403
        left = client.post("/logout")
        assert (left.status_code, left.headers["location"]) == (303, "/login")
        client.cookies.set("berth-session", cookie)
        assert client.get(f"{API}/me").status_code == 401


def test_cookies(workspace: Path) -> None:
    """They end, are no script's and no other page's, and go by TLS only where they came by it."""
    secret = add_token(workspace, "anna", "viewer")
    with asked(workspace, session_s=7200.0, proxies=frozenset({"testclient"})) as client:
        plain = client.post("/login", data={"token": secret}).headers["set-cookie"]
        for part in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=7200"):
            assert part in plain
        assert "Secure" not in plain
        assert secret not in plain
        headers = {"X-Forwarded-Proto": "https"}
        assert (
            "Secure" in client.post("/login", data={"token": secret}, headers=headers).headers["set-cookie"]
        )
    with asked(workspace) as client:
        told = client.post("/login", data={"token": secret}, headers=headers).headers["set-cookie"]
        assert "Secure" not in told


def test_jobs_belong_to_people(workspace: Path) -> None:
    """By the name of the token, whatever a header says; others' are an admin's to end."""
    people = {
        name: add_token(workspace, name, role) for name, role in (("anna", "planner"), ("bo", "planner"))
    }
    boss = add_token(workspace, "boss", "admin")
    with asked(workspace) as client:
        request = {"problem": "small.yaml", "policy": "odp"}
        headers = bearer(people["anna"]) | {"X-Berth-Author": "bo"}
        jobs = [client.post(f"{API}/jobs", json=request, headers=headers).json() for _ in range(2)]
        assert [job["by"] for job in jobs] == ["anna", "anna"]
        for way in (
            ("POST", f"{API}/jobs/{jobs[0]['id']}/cancel"),
            ("DELETE", f"{API}/jobs/{jobs[0]['id']}"),
        ):
            refused = client.request(*way, headers=bearer(people["bo"]))
            assert (refused.status_code, "job of anna" in refused.json()["error"]) == (403, True)
        while client.get(f"{API}/jobs/{jobs[1]['id']}", headers=bearer(boss)).json()["state"] != "done":
            time.sleep(0.02)
        assert client.delete(f"{API}/jobs/{jobs[0]['id']}", headers=bearer(people["anna"])).status_code == 204
        assert client.delete(f"{API}/jobs/{jobs[1]['id']}", headers=bearer(boss)).status_code == 204


# wrong tokens


def test_wrong_tokens_take_longer_and_longer() -> None:
    """The first few are free; then 1 s, 2 s, 4 s, ... up to a limit; quiet time forgets it."""
    clock = Clock()
    attempts = Attempts(clock)
    for _ in range(FREE):
        assert attempts.wait("10.0.0.1") == 0
        attempts.failed("10.0.0.1")
    waits = []
    for _ in range(12):
        waits.append(attempts.wait("10.0.0.1"))
        clock.now += waits[-1]
        assert attempts.wait("10.0.0.1") == 0
        attempts.failed("10.0.0.1")
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, LONGEST_WAIT_S, LONGEST_WAIT_S, LONGEST_WAIT_S]
    assert attempts.wait("10.0.0.2") == 0
    clock.now += FORGOTTEN_AFTER_S + 1
    attempts.failed("10.0.0.1")
    assert attempts.wait("10.0.0.1") == 0


def test_addresses_that_are_one() -> None:
    """A network of IPv6 is one address, and so is IPv4 in its clothes; the others are none of it."""
    attempts = Attempts(Clock())
    for number in range(FREE):
        attempts.failed(f"2001:db8::{number}")
        attempts.failed("::ffff:10.0.0.1" if number % 2 else "10.0.0.1")
    assert attempts.wait("2001:db8::ffff%eth0") == 1
    assert attempts.wait("2001:db8:0:1::1") == 0
    assert attempts.wait("10.0.0.1") == 1


def test_addresses_take_no_memory_without_end() -> None:
    """The one that was wrong longest ago is forgotten first."""
    attempts = Attempts(Clock(), most=10)
    for number in range(100):
        attempts.failed(f"10.0.0.{number}")
        for _ in range(FREE):
            attempts.failed("10.1.0.0")
    assert len(attempts) == 10
    assert attempts.wait("10.1.0.0") == LONGEST_WAIT_S


@pytest.fixture
def slowed(workspace: Path) -> Iterator[tuple[TestClient, Clock, str]]:
    """A service from whose one address too many wrong tokens came, by header and by form."""
    named = add_token(workspace, "anna", "viewer")
    with asked(workspace, token=CHOSEN) as client:
        clock = Clock()
        client.app.state.service.entrance.attempts._clock = clock  # type: ignore[attr-defined]
        for number in range(FREE):
            if number % 2:
                assert client.get(f"{API}/me", headers=bearer("wrong")).status_code == 401
            else:
                assert client.post("/login", data={"token": "wrong"}).status_code == 401
        yield client, clock, named


def test_an_address_that_has_to_wait(slowed: tuple[TestClient, Clock, str]) -> None:
    """It is told how long; a chosen token waits as well, so that nobody learns in between what is right."""
    client, clock, _ = slowed
    for token in ("wrong", CHOSEN):
        refused = client.get(f"{API}/me", headers=bearer(token))
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert set(refused.json()) == {"error", "mistakes"}
        form = client.post("/login", data={"token": token})
        assert (form.status_code, form.headers["retry-after"]) == (429, "1")
        assert "Try again in 1 s" in form.text
    clock.now += 1
    assert client.get(f"{API}/me", headers=bearer(CHOSEN)).status_code == 200


def test_nobody_is_locked_out_by_others(slowed: tuple[TestClient, Clock, str]) -> None:
    """Named tokens and sessions come in all the same, and who sends nothing is asked to sign in."""
    client, _, named = slowed
    assert client.get(f"{API}/me", headers=bearer(named)).status_code == 200
    assert client.get(f"{API}/me").status_code == 401
    assert client.post("/login", data={"token": named}).status_code == 303
    assert client.get(f"{API}/me").json()["name"] == "anna"
    # a session that is over is no attempt
    client.cookies.set("berth-session", "over")
    for _ in range(2 * FREE):
        assert client.get(f"{API}/me").status_code == 401


@pytest.mark.parametrize(
    ("proxies", "forwarded", "known"),
    [
        ((), "10.0.0.9", "testclient"),
        (("10.0.0.1",), "10.0.0.9", "testclient"),
        (("testclient",), "10.0.0.9", "10.0.0.9"),
        (("testclient",), "1.2.3.4, 10.0.0.9", "10.0.0.9"),
        (("testclient", "10.0.0.9"), "1.2.3.4, 10.0.0.9", "1.2.3.4"),
        (("testclient",), "", "testclient"),
    ],
)
def test_where_a_request_comes_from(
    workspace: Path, proxies: tuple[str, ...], forwarded: str, known: str
) -> None:
    """By the connection; by what is said of it only where a known proxy says so, and then its last word."""
    with asked(workspace, token=CHOSEN, proxies=frozenset(proxies)) as client:
        headers = bearer("wrong") | {"X-Forwarded-For": forwarded}
        assert client.get(f"{API}/me", headers=headers).status_code == 401
        attempts: Attempts = client.app.state.service.entrance.attempts  # type: ignore[attr-defined]
        assert list(attempts._failed) == [known]


def test_who_made_it_is_the_token(workspace: Path) -> None:
    """Not what a header says."""
    anna = bearer(add_token(workspace, "anna", "planner"))
    with asked(workspace) as client:
        etag = client.get(f"{API}/problems/small.yaml", headers=anna).headers["etag"]
        sent = anna | {"If-Match": etag, "X-Berth-Author": "bo"}
        assert (
            client.put(f"{API}/problems/small.yaml", content=PROBLEM + "# a", headers=sent).status_code == 200
        )
        late = client.put(f"{API}/problems/small.yaml", content=PROBLEM + "# b", headers=sent)
        assert (late.status_code, late.json()["current"]["by"]) == (412, "anna")
