"""Another user of the machine, as tests that run as root can be one."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

NOBODY = 65534
AS_NOBODY = """
import os, socket, sys
port = int(sys.argv[1])
user = int(sys.argv[2])
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(user, user, user)
connection = socket.socket()
connection.settimeout(20)
connection.connect(("127.0.0.1", port))
connection.sendall(sys.argv[3].encode())
if sys.argv[4] == "stay":
    try:
        sys.stdout.buffer.write(connection.recv(4096))
    except ConnectionResetError:
        pass
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def told_to_nobody(port: int, message: str, *, stay: bool = True) -> str:
    """What another user hears who connects to this port and says this; nothing where they leave at once."""
    then = "stay" if stay else "leave"
    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, str(port), str(NOBODY), message, then],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout
