"""A function in a forked process."""

import os
import signal
import time
from multiprocessing.connection import Connection

import pytest

from berth.processes import ForkedProcess, identity_of


def obeying(connection: Connection) -> None:
    """Do what the other side says."""
    while True:
        match connection.recv():
            case "pid":
                connection.send(os.getpid())
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "leave":
                return
            case "hang":
                time.sleep(600)


def test_it_answers_and_leaves() -> None:
    """Objects come back; the end of the work is the end of the process."""
    process = ForkedProcess(obeying, "the work")
    process.connection.send("pid")
    assert process.receive(10) == process.pid != os.getpid()
    process.connection.send("leave")
    with pytest.raises(EOFError):
        process.receive(10)
    assert process.why_ended() == "the work ended its process (exit code 0)"
    process.kill()


def test_a_crash_has_a_name() -> None:
    process = ForkedProcess(obeying, "the work")
    process.connection.send("crash")
    with pytest.raises((EOFError, OSError)):
        process.receive(10)
    assert process.why_ended() == "the work crashed: its process died of SIGSEGV"
    process.kill()


def test_one_that_hangs_is_killed() -> None:
    """Its time is up, and it is gone when `kill` returns."""
    process = ForkedProcess(obeying)
    process.connection.send("hang")
    with pytest.raises(TimeoutError):
        process.receive(0.2)
    there = identity_of(process.pid)
    process.kill()
    assert there is not None
    assert not there.is_running()


def test_it_dies_with_its_parent() -> None:
    """A parent that is killed leaves nothing behind."""
    reader, writer = os.pipe()
    parent = os.fork()
    if parent == 0:
        process = ForkedProcess(obeying)
        process.connection.send("hang")
        os.write(writer, str(process.pid).encode())
        time.sleep(600)
        os._exit(0)
    child = identity_of(int(os.read(reader, 20)))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    os.close(reader)
    os.close(writer)
    assert child is not None
    assert child.wait_gone(10)
