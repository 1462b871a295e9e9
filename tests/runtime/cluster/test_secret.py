"""The secret of a cluster: who has it, who hasn't, and where it can't be seen."""

import base64
import hashlib
import hmac
import http.client
import json
import os
import pwd
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pyspark
import pytest

from berth.model import BadInput
from berth.runtime.cluster.access import access_for, page_at, page_of, secret_for, stop_cluster
from berth.runtime.cluster.nodes import Cluster
from berth.runtime.cluster.secret import (
    ENVIRONMENT,
    FILE,
    PRIVATE_SOCKETS,
    Secret,
    new_secret_file,
    read_secret,
)
from berth.runtime.cluster.starting import start_cluster, temporary_cluster
from tests.runtime.cluster.small import processes_of, small_problem, wait_until

ONE_NODE = {"nodes": [{"name": "rome"}], "links": []}
HERE = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.cores": "1",
    "spark.executor.memory": "512m",
    "spark.executor.resource.node_rome.amount": "1",
    "spark.task.resource.node_rome.amount": "1",
}


def test_a_new_secret(tmp_path: Path) -> None:
    """Its owner can read it, whatever the umask, and no two are the same."""
    before = os.umask(0)
    try:
        new_secret_file(tmp_path)
    finally:
        os.umask(before)
    file = tmp_path / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    first = read_secret(file)
    assert len(first.text) == 64
    with pytest.raises(FileExistsError):
        new_secret_file(tmp_path)
    file.unlink()
    new_secret_file(tmp_path)
    assert read_secret(file) != first


@pytest.mark.parametrize(
    ("content", "mode", "line"),
    [
        (b"0123456789abcdef\n", 0o640, "others may read it; chmod 600"),
        (b"0123456789abcdef\n", 0o604, "others may read it; chmod 600"),
        (b"short\n", 0o600, "expected one word of at least 16 letters and digits"),
        (b"0123456789abcdef 0123456789abcdef", 0o600, "expected one word"),
        ("Geheimnis für alle".encode(), 0o600, "expected one word"),
        (b"x" * 5000, 0o600, "expected one word"),
    ],
)
def test_files_that_hold_no_secret(content: bytes, mode: int, line: str, tmp_path: Path) -> None:
    """The line names the file and the way out, and not what is in it."""
    file = tmp_path / "secret"
    file.write_bytes(content)
    file.chmod(mode)
    with pytest.raises(BadInput, match=line) as caught:
        read_secret(file)
    assert str(file) in str(caught.value)
    assert "0123456789abcdef" not in str(caught.value)


def test_no_such_file(tmp_path: Path) -> None:
    """As for every other file."""
    with pytest.raises(BadInput, match="nowhere: no such file or directory"):
        read_secret(tmp_path / "nowhere")


def test_it_is_not_shown() -> None:
    """Neither in a traceback nor in a log."""
    assert "x" * 16 not in repr(Secret("x" * 16))


def test_a_token_is_signed_and_expires() -> None:
    """As RFC 7519 has it, with a key that is not the secret; docs/cluster.md tells how to compute it."""
    secret = Secret("0123456789abcdef")
    header, claims, signature = secret.page_token().split(".")
    key = hmac.new(b"0123456789abcdef", b"berth pages", hashlib.sha256).digest()
    assert _decoded(signature) == hmac.new(key, f"{header}.{claims}".encode(), hashlib.sha256).digest()
    assert json.loads(_decoded(header)) == {"alg": "HS256", "typ": "JWT"}
    assert 0 < json.loads(_decoded(claims))["exp"] - time.time() <= 300
    settings = secret.daemon_settings()
    assert _decoded(settings["spark.org.apache.spark.ui.JWSFilter.param.secretKey"]) == key
    assert secret.text not in settings.values()


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_which_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the file that is given, else of the one in the environment, else none."""
    monkeypatch.setenv("BERTH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("BERTH_CLUSTER_SECRET_FILE", raising=False)
    for name in ("given", "named"):
        (tmp_path / name).write_text(name * 4)
        (tmp_path / name).chmod(0o600)
    url = "spark://elsewhere:7077"
    assert secret_for(url) is None
    with pytest.raises(BadInput, match="--encrypt: needs the cluster's secret"):
        secret_for(url, encrypt=True)
    assert secret_for(url, tmp_path / "given", encrypt=True) == Secret("given" * 4, True)
    monkeypatch.setenv("BERTH_CLUSTER_SECRET_FILE", str(tmp_path / "named"))
    assert secret_for(url) == Secret("named" * 4)
    assert secret_for(url, tmp_path / "given") == Secret("given" * 4)


@pytest.mark.parametrize(("file", "encrypt"), [(Path("secret"), False), (None, True)])
def test_only_for_clusters_of_others(file: Path | None, encrypt: bool) -> None:
    """Without --master the options mean nothing: that is said, and nothing is started."""
    access = access_for(small_problem(), None, None, print, file, encrypt)
    with pytest.raises(BadInput, match=r"--(secret-file|encrypt): only with --master"), access:
        pass


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BERTH_HOME", str(folder))
        yield folder
    assert processes_of(folder) == []


@pytest.fixture(scope="module")
def cluster(home: Path) -> Iterator[Cluster]:
    with temporary_cluster(small_problem(**ONE_NODE)) as started:
        yield started


DRIVER = """
import json, sys
from berth.model import BadInput
from berth.spark import spark_session

master, settings = json.loads(sys.stdin.readline())
try:
    with spark_session(master, settings=settings) as session:
        rows = session.range(1000).repartition(2).mapInArrow(lambda batches: batches, "id long")
        print(rows.count(), flush=True)
        sys.stdin.readline()
except BadInput as error:
    print(error, flush=True)
"""


@contextmanager
def driver(cluster: Cluster, settings: dict[str, str]) -> Iterator[str]:
    """An application on a cluster, in a process of its own: there may be a session in this one.

    It stays for the time of a `with` block; gives what it has counted, or why it was refused.
    """
    with subprocess.Popen(
        [sys.executable, "-c", DRIVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([cluster.master_url, HERE | settings]) + "\n")
        process.stdin.flush()
        yield process.stdout.readline().strip()
        process.stdin.close()


def submitting(cluster: Cluster, options: Sequence[str], environment: dict[str, str]) -> str:
    """Ask the master to run a program on a worker, as `nobody`, and return what is said to that."""
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    user, java = pwd.getpwnam("nobody"), shutil.which("java")
    jars = Path(pyspark.__file__).parent / "jars"
    program = ["org.apache.spark.deploy.Client", "launch", cluster.master_url, "file:///nowhere.jar", "Harm"]
    done = subprocess.run(
        [str(java), "-cp", f"{jars}/*", *options, *program],
        user=user.pw_uid,
        group=user.pw_gid,
        extra_groups=[],
        env={"PATH": os.environ["PATH"], "SPARK_LOCAL_IP": "127.0.0.1", "USER": "nobody"} | environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    if "Could not find or load main class" in said:
        pytest.skip("nobody can't read Spark's jars here")
    return said


@pytest.mark.spark
def test_another_user_is_refused(cluster: Cluster) -> None:
    """Without the secret and with a wrong one; with the right one the same command works."""
    authenticate = ["-Dspark.authenticate=true"]
    none = submitting(cluster, [], {})
    assert "Expected SaslMessage" in none
    wrong = submitting(cluster, authenticate, {ENVIRONMENT: "x" * 64})
    assert "Mismatched response" in wrong
    assert "successfully submitted" not in none + wrong
    right = submitting(cluster, authenticate, {ENVIRONMENT: cluster.secret().text})
    assert "successfully submitted" in right


@pytest.mark.spark
def test_pages_are_closed(cluster: Cluster, home: Path) -> None:
    """Those of master and worker answer nobody without a token, whatever the path, method or host."""
    ports = {urlsplit(cluster.ui_url).port}
    assert wait_until(lambda: len(_pages(home)) == 2)
    assert ports < _pages(home)
    token = {"Authorization": f"Bearer {cluster.secret().page_token()}"}
    forged = {"Authorization": f"Bearer {Secret('x' * 64).page_token()}"}
    for port in _pages(home):
        for method, path in (
            *(("GET", path) for path in ("/", "/json/", "/environment/", "/static/webui.js", "/nowhere")),
            *(("POST", path) for path in ("/app/kill/?id=app&terminate=true", "/workers/kill/?host=x")),
        ):
            for headers in ({}, {"Host": "evil.example"}, forged):
                assert _status(port, method, path, headers) == 403, path
        assert _status(port, "GET", "/json/", token) == 200
    assert page_of(cluster).alive == {"rome"}
    with pytest.raises(BadInput, match="it asks for a secret: give the file that has it"):
        page_at(cluster.ui_url)
    with pytest.raises(BadInput, match="its cluster has another secret"):
        page_at(cluster.ui_url, Secret("x" * 64))


def _pages(home: Path) -> set[int]:
    """The ports of the cluster that speak HTTP."""
    found = set()
    for process in processes_of(home):
        for connection in process.net_connections("inet"):
            if connection.status == psutil.CONN_LISTEN:
                try:
                    _status(connection.laddr.port, "GET", "/", {})
                except (OSError, http.client.HTTPException):
                    continue
                found.add(connection.laddr.port)
    return found


def _status(port: int, method: str, path: str, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request(method, path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.spark
def test_the_secret_is_nowhere_to_be_seen(cluster: Cluster, home: Path) -> None:
    """While an application runs, no arguments have it, and no file but its own."""
    secret = cluster.secret()
    settings = secret.session_settings()
    # all its processes are here, and ours
    assert PRIVATE_SOCKETS.items() <= settings.items()
    assert PRIVATE_SOCKETS.keys().isdisjoint(Secret(secret.text).session_settings())
    with driver(cluster, settings) as counted:
        assert counted == "1000"
        arguments = [" ".join(process.cmdline()) for process in _all_processes()]
        assert any("CoarseGrainedExecutorBackend" in text for text in arguments)
        assert [text for text in arguments if secret.text in text] == []
        with_it = [file for file in home.rglob("*") if file.is_file() and _has(file, secret.text)]
        assert with_it == [cluster.folder / FILE]
        document = json.dumps([str(page_of(cluster)), str(cluster), str(secret)])
        assert secret.text not in document
    private = [cluster.folder, cluster.folder / "settings"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in private] == [0o700, 0o700]
    open_to_others = [file for file in (cluster.folder / "settings").iterdir() if file.stat().st_mode & 0o077]
    assert open_to_others == []


def _all_processes() -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            process.cmdline()
        except psutil.Error:
            continue
        yield process


def _has(file: Path, text: str) -> bool:
    return text.encode() in file.read_bytes()


@pytest.mark.spark
@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "it asks for a secret: name the file that has it in BERTH_CLUSTER_SECRET_FILE"),
        pytest.param(
            *(Secret("x" * 64).session_settings(), "it has another secret, or none"), marks=pytest.mark.long
        ),
        pytest.param(
            *(Secret("x" * 64, True).session_settings(), "it has another secret, or doesn't encrypt"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_driver_that_is_refused_says_so(settings: dict[str, str], reason: str, cluster: Cluster) -> None:
    """It doesn't knock for a minute, and no application is left waiting."""
    with driver(cluster, settings) as told:
        assert f"{cluster.master_url} doesn't let us in: {reason}" in told
    assert page_of(cluster).applications == ()


@pytest.mark.long
@pytest.mark.spark
def test_an_encrypted_cluster(home: Path) -> None:
    """An application with its settings runs there; one that has the secret and doesn't encrypt is refused."""
    cluster = start_cluster(small_problem(**ONE_NODE), "encrypted", encrypt=True)
    try:
        secret = cluster.secret()
        assert secret.encrypts
        with driver(cluster, Secret(secret.text, encrypts=False).session_settings()) as told:
            assert "doesn't let us in" in told
        with driver(cluster, secret.session_settings()) as counted:
            assert counted == "1000"
    finally:
        stop_cluster(cluster)
