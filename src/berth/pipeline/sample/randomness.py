"""Random numbers as Spark columns: of the seed and a record's number only, so never of the partitions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b

from pyspark.sql import Column
from pyspark.sql import functions as sf


@dataclass(frozen=True)
class Randomness:
    """Independent random columns by purpose, for one seed and one folder."""

    seed: int
    folder: str

    def bits(self, purpose: str, *keys: Column) -> Column:
        """64 random bits for every value of the keys, which are whole numbers."""
        return sf.xxhash64(sf.lit(self._salt(purpose)), *[key.cast("long") for key in keys])

    def uniform(self, purpose: str, *keys: Column) -> Column:
        """Uniform from 0 to 1, 1 left out."""
        return sf.shiftrightunsigned(self.bits(purpose, *keys), 11) * sf.lit(2.0**-53)

    def normal(self, purpose: str, *keys: Column) -> Column:
        """Standard normal, by Box and Muller."""
        radius = sf.sqrt(sf.lit(-2.0) * sf.log(sf.lit(1.0) - self.uniform(f"{purpose} radius", *keys)))
        return radius * sf.cos(sf.lit(2 * math.pi) * self.uniform(f"{purpose} angle", *keys))

    def _salt(self, purpose: str) -> int:
        digest = blake2b(f"{self.seed}\0{self.folder}\0{purpose}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little", signed=True)


def whole_quotient(dividend: Column, divisor: Column | int) -> Column:
    """Integer division, exact over all 64 bits."""
    return sf.call_function("div", dividend, sf.lit(divisor) if isinstance(divisor, int) else divisor)
