"""The line between a keeper and who started it, and the keeper's socket."""

import os
import threading
from pathlib import Path

import pytest

from berth.runtime.cluster.control import ask_keeper, listen
from berth.runtime.cluster.leash import Leash, leashes


def test_messages_come_whole_and_in_order() -> None:
    """Two at once are two; the end of the other is felt behind the last one."""
    ours, theirs = leashes()
    keeper = Leash(theirs)
    assert ours.send({"do": "first", "text": "a\nb"})
    assert ours.send({"do": "second"})
    ours.close()
    assert keeper.receive(1) == {"do": "first", "text": "a\nb"}
    assert keeper.receive(1) == {"do": "second"}
    assert keeper.receive(1) is None
    assert not keeper.send({"anybody": "there"})
    keeper.close()


def test_silence_is_not_the_end() -> None:
    """Who doesn't say anything is still there."""
    ours, theirs = leashes()
    keeper = Leash(theirs)
    with pytest.raises(TimeoutError):
        keeper.receive(0.01)
    assert ours.send({})
    assert keeper.receive(1) == {}
    ours.close()
    keeper.close()


def test_forked_children_do_not_hold_it() -> None:
    """A cluster lives with the process that started it, not with that process's children."""
    ours, theirs = leashes()
    keeper = Leash(theirs)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)
        os._exit(0)
    try:
        ours.close()
        assert keeper.receive(5) is None
    finally:
        os.close(writer)
        os.waitpid(child, 0)
        os.close(reader)
        keeper.close()


def test_requests_in_a_folder_with_a_long_name(tmp_path: Path) -> None:
    """A socket's address is short, a folder's path may be long."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    with listen(folder) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                line = Leash(connection)
                line.send({"heard": line.receive(5)})

        thread = threading.Thread(target=answer)
        thread.start()
        assert ask_keeper(folder, {"do": "revive"}) == {"heard": {"do": "revive"}}
        thread.join()
    with pytest.raises(ConnectionRefusedError):
        ask_keeper(folder, {})
