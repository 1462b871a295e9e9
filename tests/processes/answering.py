"""A module that is started as a child process by tests."""

import os
import resource
import signal
import sys

from berth.processes import begin_child


def main() -> None:
    """Answer until the other side is gone."""
    channel = begin_child()
    assert channel is not None
    while (request := channel.receive()) is not None:
        if request["do"] == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        orders = any(name.startswith("BERTH_CHILD") for name in os.environ)
        channel.send({"arguments": sys.argv[1:], "orders": orders, "most_bytes": most})
    # told to end by a signal, or by the end of the channel: whichever comes first
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(0))
    main()
