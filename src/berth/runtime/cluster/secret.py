"""The secret of a cluster: whoever has it may run code there as the cluster's owner.

All processes of Spark prove to each other that they have it before they listen to anything else. It is in a
file that only its owner can read. From there it goes to the master and the workers by their environment, from
a worker to its executors in the same way, and to the driver over the connection that Python has to it: never
by arguments, which every user of a machine can read.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path

from berth.model import BadInput

FILE = "secret"
FILE_VARIABLE = "BERTH_CLUSTER_SECRET_FILE"
SETTING = "spark.authenticate.secret"
ENVIRONMENT = "_SPARK_AUTH_SECRET"
"""What Spark itself hands the secret to executors by."""

_SHORTEST = 16
_LARGEST_BYTES = 4096
_TOKEN_SECONDS = 300
_PAGE_FILTER = "org.apache.spark.ui.JWSFilter"
_PAGE_KEY_OF = b"berth pages"

ENCRYPTION = {
    "spark.network.crypto.enabled": "true",
    "spark.network.crypto.authEngineVersion": "2",
    "spark.network.crypto.cipher": "AES/GCM/NoPadding",
    # without this, a process that doesn't encrypt would be talked to in clear text
    "spark.network.crypto.saslFallback": "false",
}
"""For all processes of a cluster alike."""

FILE_ENCRYPTION = {"spark.io.encryption.enabled": "true"}
"""For the files of shuffles, and what is spilt; the driver decides that for its executors."""


PRIVATE_SOCKETS = {"spark.python.unix.domain.socket.enabled": "true"}
"""Where all processes are this user's, and on this machine; see `berth.spark.settings`."""


@dataclass(frozen=True)
class Secret:
    """A secret, and whether what is said is encrypted, too."""

    text: str = field(repr=False)
    encrypts: bool = False
    ours: bool = False
    """Whether it is that of a cluster of berth's: all processes are this user's, and on this machine."""

    def session_settings(self) -> dict[str, str]:
        """What an application of Spark needs to be let in."""
        encryption = ENCRYPTION | FILE_ENCRYPTION if self.encrypts else {}
        sockets = PRIVATE_SOCKETS if self.ours else {}
        return {"spark.authenticate": "true", SETTING: self.text} | encryption | sockets

    def daemon_settings(self) -> dict[str, str]:
        """What a master or a worker needs beside the environment. A key is among it: for private files only.

        Their pages answer nobody who doesn't show a token: neither other users, nor what a browser is lured
        to ask.
        """
        page = {
            "spark.ui.filters": _PAGE_FILTER,
            f"spark.{_PAGE_FILTER}.param.secretKey": _base64url(self._page_key()),
            f"spark.{_PAGE_FILTER}.param.requireExpiration": "true",
        }
        return {"spark.authenticate": "true"} | page | (ENCRYPTION if self.encrypts else {})

    def page_token(self) -> str:
        """A JSON Web Token that opens the pages of master and workers for some minutes."""
        claims = {"exp": int(time.time()) + _TOKEN_SECONDS}
        parts = ({"alg": "HS256", "typ": "JWT"}, claims)
        signed = ".".join(_base64url(json.dumps(part).encode()) for part in parts)
        signature = hmac.digest(self._page_key(), signed.encode(), hashlib.sha256)
        return f"{signed}.{_base64url(signature)}"

    def _page_key(self) -> bytes:
        """Another one than the secret: who comes upon it can read pages, and no more."""
        return hmac.digest(self.text.encode(), _PAGE_KEY_OF, hashlib.sha256)


def new_secret_file(folder: Path) -> None:
    """Draw a secret for a cluster, into a file that only this user can read."""
    descriptor = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(secrets.token_hex(32) + "\n")


def read_secret(file: Path, *, encrypts: bool = False, ours: bool = False) -> Secret:
    """The secret in a file, without the spaces and line ends around it; of what, is told by the caller.

    Raises:
        BadInput: there is no such file, others may read it, or what is in it is no secret.
    """
    try:
        with file.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            content = stream.read(_LARGEST_BYTES + 1)
    except OSError as error:
        raise BadInput(f"secret file {file}: {(error.strerror or str(error)).lower()}") from None
    if stat.S_ISREG(mode) and mode & 0o077:
        raise BadInput(f"secret file {file}: others may read it; chmod 600 {file}, and take a new secret")
    try:
        text = content.decode("ascii").strip()
    except UnicodeDecodeError:
        text = ""
    if not _SHORTEST <= len(text) < _LARGEST_BYTES or len(text.split()) != 1:
        raise BadInput(
            f"secret file {file}: expected one word of at least {_SHORTEST} letters and digits; "
            f"make one with: (umask 077; openssl rand -hex 32 > {file})"
        )
    return Secret(text, encrypts, ours)


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
