"""Processes: who still runs, who is below whom, who goes with whom."""

import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from berth.processes.system import (
    ProcessIdentity,
    children_of,
    descendants_of,
    identity_of,
    is_from_our_user,
    memory_of,
    signal_all,
    with_variable,
)
from tests.processes.stranger import needs_root, told_to_nobody
from tests.processes.waiting import wait_until

# forks a child that outlives its parent, unless somebody adopts and kills it
ORPHANS = """
import os, time
from berth.processes.system import adopt_orphans, descendants_of, kill_descendants
adopt_orphans()
reader, writer = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        os.write(writer, str(os.getpid()).encode())
        time.sleep(600)
    os._exit(0)
orphan = int(os.read(reader, 20))
os.wait()
print(orphan in descendants_of(os.getpid()))
kill_descendants()
print(descendants_of(os.getpid()), os.path.exists(f"/proc/{orphan}"))
"""

PARENT = """
import os, subprocess, sys
from functools import partial
from berth.processes.system import die_with_parent
child = subprocess.Popen(["sleep", "600"], preexec_fn=partial(die_with_parent, os.getpid()))
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_a_process_of_the_same_number_is_another_one() -> None:
    """A number that is used again is neither taken for the old process nor sent a signal."""
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        identity = identity_of(sleeper.pid)
        assert identity is not None
        assert identity.is_running()
        older = ProcessIdentity(sleeper.pid, identity.started + "0")
        older.send(signal.SIGKILL)
        assert not older.is_running()
        assert not identity.wait_gone(0.1)
        identity.send(signal.SIGKILL)
        # not collected yet, and gone all the same
        assert identity.wait_gone(5)
    finally:
        sleeper.kill()
        sleeper.wait()
    assert identity_of(sleeper.pid) is None


def test_descendants_and_marks() -> None:
    """Children of children are found, and processes by what is in their environment."""
    command = "sleep 600 & echo; wait"
    environment = {**os.environ, "BERTH_CLUSTER": "a test"}
    shell = subprocess.Popen(
        ["sh", "-c", command], stdout=subprocess.PIPE, env=environment, start_new_session=True
    )
    try:
        assert shell.stdout is not None
        shell.stdout.readline()
        below = descendants_of(os.getpid())
        (sleeper,) = descendants_of(shell.pid)
        assert below.index(shell.pid) < below.index(sleeper)
        assert set(with_variable("BERTH_CLUSTER", "a test")) == {shell.pid, sleeper}
        assert with_variable("BERTH_CLUSTER", "a tes") == []
        signal_all([sleeper, shell.pid], signal.SIGKILL)
        assert wait_until(lambda: not with_variable("BERTH_CLUSTER", "a test"), 5)
    finally:
        os.killpg(shell.pid, signal.SIGKILL)
        shell.wait()
        if shell.stdout is not None:
            shell.stdout.close()


def test_no_descendant_gets_away() -> None:
    """A process that leaves its parent and its session is adopted, and killed with the rest."""
    done = subprocess.run([sys.executable, "-c", ORPHANS], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n[] False\n"


def test_children_die_with_their_parent() -> None:
    """SIGKILL leaves the parent no chance to end its child: the kernel does."""
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with parent:
        assert parent.stdout is not None
        child = identity_of(int(parent.stdout.readline()))
        parent.kill()
        assert child is not None
        assert child.wait_gone(5)


def test_children_of_any_thread_and_their_memory() -> None:
    """A child that another thread has started is a child; its memory counts."""
    code = "text = 'x' * (64 * 2**20); print(len(text), flush=True); import time; time.sleep(600)"
    started: list[subprocess.Popen[str]] = []

    def start() -> None:
        started.append(subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True))
        assert started[0].stdout is not None
        started[0].stdout.readline()

    before = memory_of(os.getpid())
    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with started[0] as child:
        assert child.pid in children_of(os.getpid())
        assert memory_of(os.getpid()) - before > 64 * 2**20
        child.kill()
    assert child.pid not in children_of(os.getpid())


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_connections_of_our_own(family: socket.AddressFamily) -> None:
    """Our own are known, also those by a socket of IPv6, as Java has them; ended ones are nobody's."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(family) as client:
        host = "127.0.0.1" if family == socket.AF_INET else "::ffff:127.0.0.1"
        client.connect((host, server.getsockname()[1]))
        accepted, _ = server.accept()
        with accepted:
            assert is_from_our_user(accepted)
            client.close()
            assert not is_from_our_user(accepted)


def test_connections_over_ipv6() -> None:
    """Both ends of one are listed with addresses of IPv6."""
    try:
        server = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with server, socket.create_connection(("::1", server.getsockname()[1])):
        accepted, _ = server.accept()
        with accepted:
            assert is_from_our_user(accepted)


@needs_root
@pytest.mark.parametrize("stay", [True, False])
def test_connections_of_somebody_else(stay: bool) -> None:
    """Another user is told apart, also one who has gone: what nobody has any more is listed as root's."""
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as strangers:
        told = strangers.submit(told_to_nobody, server.getsockname()[1], "hello", stay=stay)
        if not stay:
            told.result()
        accepted, _ = server.accept()
        with accepted:
            assert not is_from_our_user(accepted)
            assert accepted.recv(10) == b"hello"
