"""The socket by which a keeper is asked."""

import threading
from pathlib import Path

import pytest

from berth.processes import Channel
from berth.runtime.cluster.control import ask_keeper, listen


def test_requests_in_a_folder_with_a_long_name(tmp_path: Path) -> None:
    """A socket's address is short, a folder's path may be long."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    with listen(folder) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                channel = Channel(connection)
                channel.send({"heard": channel.receive(5)})

        thread = threading.Thread(target=answer)
        thread.start()
        assert ask_keeper(folder, {"do": "revive"}) == {"heard": {"do": "revive"}}
        thread.join()
    with pytest.raises(ConnectionRefusedError):
        ask_keeper(folder, {})
