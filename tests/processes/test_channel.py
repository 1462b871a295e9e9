"""A channel between two processes."""

import os
import threading
import time

import pytest

from berth.processes.channel import Channel, new_channel


def test_messages_come_whole_and_in_order() -> None:
    """Two at once are two; the end of the other is felt behind the last one."""
    ours, theirs = new_channel()
    other = Channel(theirs)
    assert ours.send({"do": "first", "text": "a\nb"})
    assert ours.send({"do": "second"})
    ours.close()
    assert other.receive(1) == {"do": "first", "text": "a\nb"}
    assert other.receive(1) == {"do": "second"}
    assert other.receive(1) is None
    assert not other.send({"anybody": "there"})
    other.close()


def test_silence_is_not_the_end() -> None:
    """Who doesn't say anything is still there."""
    ours, theirs = new_channel()
    other = Channel(theirs)
    with pytest.raises(TimeoutError):
        other.receive(0.01)
    assert ours.send({})
    assert other.receive(1) == {}
    ours.close()
    other.close()


def test_forked_children_do_not_hold_it() -> None:
    """It is closed with the process that made it, not with that process's children."""
    ours, theirs = new_channel()
    other = Channel(theirs)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    try:
        # as the end of the process would
        ours.drop()
        assert other.receive(5) is None
    finally:
        os.close(writer)
        os.waitpid(child, 0)
        os.close(reader)
        other.close()


def test_closing_wakes_who_waits() -> None:
    """A thread that waits for a message hears that there will be none."""
    ours, theirs = new_channel()
    heard: list[object] = []
    waiting = threading.Thread(target=lambda: heard.append(ours.receive(30)))
    waiting.start()
    time.sleep(0.1)
    ours.close()
    waiting.join(10)
    assert heard == [None]
    theirs.close()


def test_dropping_leaves_it_to_another_process() -> None:
    """Only the last end that is closed is the end of it."""
    ours, theirs = new_channel()
    copy = Channel(theirs.dup())
    Channel(theirs).drop()
    assert ours.send({"still": "there"})
    assert copy.receive(1) == {"still": "there"}
    copy.close()
    assert ours.receive(1) is None
    ours.close()
