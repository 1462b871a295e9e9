"""What becomes of a plan in another system's format."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Written:
    """A document, and what to tell the user about it."""

    document: dict[str, Any]
    warnings: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The file's text."""
        return json.dumps(self.document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
