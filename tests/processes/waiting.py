"""Waiting for what other processes do."""

import time
from collections.abc import Callable


def wait_until(happened: Callable[[], bool], seconds: float) -> bool:
    """Wait until something has happened; False if it hasn't after so many seconds."""
    until = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
