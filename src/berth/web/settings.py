"""What a service allows."""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass, field
from pathlib import Path

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


def usual_workers() -> int:
    """Solves that run at once: one processor stays for the page."""
    return max(1, (os.cpu_count() or 2) - 1)


@dataclass(frozen=True)
class Settings:
    """Where a service works and what it allows; all limits are there to be hit by mistakes and bad will."""

    workspace: Path
    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None
    allowed_hosts: frozenset[str] = frozenset()
    """Further names under which it may be asked."""
    workers: int = field(default_factory=usual_workers)
    most_waiting: int = 50
    longest_solve_s: float = 3600.0
    memory_bytes: int = 4 * 2**30
    """For one solve."""
    upload_bytes: int = 16 * 2**20
    most_streams: int = 200
    """Connections for server-sent events at once."""
    jobs_kept: int = 500

    @property
    def only_here(self) -> bool:
        """Whether nobody outside of this machine can reach it."""
        return is_loopback(self.host)

    def answers_to(self, name: str) -> bool:
        """Whether a request for that host is meant for this service.

        A name that somebody else's page made lead here (DNS rebinding) is none of ours. An address can't be
        made to lead anywhere; where only this machine may ask, it must be one of this machine's own.
        """
        name = name.lower().rstrip(".")
        if name in LOOPBACK_NAMES or name == self.host.lower() or name in self.allowed_hosts:
            return True
        if self.only_here:
            return is_loopback(name)
        return _is_address(name) or name == socket.gethostname().lower()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    if host.lower() == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True
