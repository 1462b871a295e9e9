"""Wrong tokens, by the address that they come from: after a few, each takes twice as long as the last."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

FREE = 5
"""Mistakes that cost nothing."""
LONGEST_WAIT_S = 300.0
FORGOTTEN_AFTER_S = 900.0
MOST_ADDRESSES = 10_000


class Attempts:
    """How often an address was wrong of late. Of too many addresses, those that were wrong longest ago go."""

    def __init__(self, clock: Callable[[], float] = time.monotonic, most: int = MOST_ADDRESSES) -> None:
        self._clock = clock
        self._most = most
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._lock = threading.Lock()

    def failed(self, address: str) -> None:
        """Note a wrong token."""
        key, now = _network(address), self._clock()
        with self._lock:
            count, last = self._failed.pop(key, (0, now))
            self._failed[key] = (1 if now - last > FORGOTTEN_AFTER_S else count + 1), now
            if len(self._failed) > self._most:
                self._failed.popitem(last=False)

    def wait(self, address: str) -> float:
        """Seconds until the next token of an address is looked at; those that come sooner don't add to it."""
        count, last = self._failed.get(_network(address), (0, 0.0))
        if count < FREE:
            return 0.0
        pause = min(LONGEST_WAIT_S, 2.0 ** min(count - FREE, 60))
        return max(0.0, last + pause - self._clock())

    def __len__(self) -> int:
        """How many addresses are remembered."""
        return len(self._failed)


def _network(address: str) -> str:
    """Who has one address of IPv6 has the 2^64 beside it, too."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped) if mapped else str(ipaddress.ip_network((found, 64), strict=False))
