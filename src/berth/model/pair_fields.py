"""Matrices over node pairs that are computed where they are looked at: for networks of many nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IndexArray = NDArray[np.intp]

AT_ONCE = 2**21
"""Entries that are computed in one go: of larger blocks one part after the other, to save memory."""


LARGEST_BLOCK = 2 * 10**8
"""Entries that may be asked for at once: 1.6 GB."""


class AllPairsError(MemoryError):
    """Somebody wants a matrix, or a part of one, that is too large for any machine's memory."""


class Formula(Protocol):
    """What the entries of most pairs are."""

    @property
    def most(self) -> float:
        """No entry is above this."""
        ...

    def __call__(self, senders: IndexArray, receivers: IndexArray) -> FloatArray:
        """The entries of some pairs."""
        ...


class PairField:
    """A matrix that answers `field[u, v]` as an array would, for numbers, arrays of them and slices.

    It is a formula over pairs of nodes, entries that differ from it, and one value for a node with itself.
    """

    def __init__(
        self, size: int, formula: Formula, itself: float, pairs: IndexArray, values: FloatArray
    ) -> None:
        self.shape = (size, size)
        self._formula = formula
        self._itself = itself
        self._pairs = pairs
        """Ascending, as numbers u * size + v; none from a node to itself."""
        self._values = values

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        """The entries at a row and a column, each a number, an array of numbers or a slice.

        Raises:
            AllPairsError: It would be far too many.
            IndexError: There is no such node.
        """
        rows, columns = _as_of_array(key, len(self))
        if np.broadcast(rows, columns).size > LARGEST_BLOCK:
            _refuse(len(self))
        senders, receivers = _in_range(rows, len(self)), _in_range(columns, len(self))
        if senders.shape != receivers.shape:
            senders, receivers = np.broadcast_arrays(senders, receivers)
        if senders.size <= AT_ONCE:
            return self._at(senders, receivers)[()]
        found = np.empty(senders.shape)
        for part, row, column in zip(_parts(found), _parts(senders), _parts(receivers), strict=True):
            part[...] = self._at(row, column)
        return found

    def _at(self, senders: IndexArray, receivers: IndexArray) -> FloatArray:
        found = self._formula(senders, receivers)
        if len(self._pairs):
            wanted = senders * len(self) + receivers
            place = np.minimum(np.searchsorted(self._pairs, wanted), len(self._pairs) - 1)
            found = np.where(self._pairs[place] == wanted, self._values[place], found)
        return np.where(senders == receivers, self._itself, found)

    @property
    def entries(self) -> tuple[IndexArray, IndexArray, FloatArray]:
        """The pairs that have an entry of their own, as senders and receivers, and their values."""
        senders, receivers = np.divmod(self._pairs, len(self))
        return senders, receivers, self._values

    @property
    def most(self) -> float:
        """No entry is above this; there need not be one as high."""
        return max(self._formula.most, self._itself, float(np.nanmax(self._values, initial=-np.inf)))

    @property
    def blank(self) -> BoolArray:
        """The nodes whose pairs with others have a value only where they have an entry of their own."""
        numbers = np.arange(len(self))
        return np.isnan(self._formula(numbers, numbers))

    def ravel(self) -> FlatField:
        """The rows one after the other, not computed either."""
        return FlatField(self)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        _refuse(len(self))


@dataclass(frozen=True, eq=False)
class FlatField:
    """A field by numbers u * nodes + v."""

    field: PairField

    def __getitem__(self, pairs: ArrayLike) -> Any:
        return self.field[np.divmod(np.asarray(pairs), len(self.field))]

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        _refuse(len(self.field))


@dataclass(frozen=True, eq=False)
class Known:
    """Where a field has a value."""

    field: PairField

    def __len__(self) -> int:
        return len(self.field)

    def __getitem__(self, key: Any) -> Any:
        return ~np.isnan(self.field[key])

    def sum(self) -> int:
        """How many pairs have a value, nodes with themselves among them."""
        blank = self.field.blank
        senders, receivers, values = self.field.entries
        placed = int((~blank).sum())
        alone = int(((blank[senders] | blank[receivers]) & ~np.isnan(values)).sum())
        return len(blank) + placed * (placed - 1) + alone

    def all(self) -> bool:
        """Whether all pairs have a value."""
        return self.sum() == len(self) ** 2

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        _refuse(len(self.field))


@dataclass(frozen=True, eq=False)
class Everywhere:
    """A formula: the same for all pairs."""

    value: float

    @property
    def most(self) -> float:
        """The largest entry."""
        return self.value if self.value == self.value else -np.inf

    def __call__(self, senders: IndexArray, receivers: IndexArray) -> FloatArray:
        """The entries of some pairs."""
        return np.full(senders.shape, self.value)


@dataclass(frozen=True, eq=False)
class Distance:
    """A formula: Euclidean distance plus both heights, NaN where a node has no coordinates."""

    positions: FloatArray
    heights: FloatArray

    @property
    def most(self) -> float:
        """No entry is above this: the diagonal of a box around all nodes, and the greatest height twice."""
        placed = ~np.isnan(self.positions).any(axis=1)
        if not placed.any():
            return -np.inf
        across = np.ptp(self.positions[placed], axis=0)
        return float(np.sqrt((across**2).sum()) * (1.0 + 1e-12) + 2.0 * self.heights[placed].max())

    def __call__(self, senders: IndexArray, receivers: IndexArray) -> FloatArray:
        """The entries of some pairs."""
        squares = sum((axis[senders] - axis[receivers]) ** 2 for axis in self.positions.T)
        return np.asarray(np.sqrt(squares) + self.heights[senders] + self.heights[receivers])


@dataclass(frozen=True, eq=False)
class SameAs:
    """A formula: the entries of another field."""

    field: PairField

    @property
    def most(self) -> float:
        """No entry is above this."""
        return self.field.most

    def __call__(self, senders: IndexArray, receivers: IndexArray) -> FloatArray:
        """The entries of some pairs."""
        return np.asarray(self.field[senders, receivers])


def _as_of_array(key: Any, size: int) -> tuple[IndexArray, IndexArray]:
    """A row and a column as numbers that broadcast to the shape that an array would give."""
    row, column = key if isinstance(key, tuple) else (key, slice(None))
    rows, columns = _numbers(row, size), _numbers(column, size)
    if isinstance(row, slice):
        return rows.reshape(-1, *(1,) * columns.ndim), columns
    return (rows[..., None] if isinstance(column, slice) else rows), columns


def _numbers(part: Any, size: int) -> IndexArray:
    if isinstance(part, slice):
        return np.arange(size)[part]
    if isinstance(part, np.ndarray) and part.dtype == np.intp:
        return part
    numbers = np.asarray(part, dtype=np.intp if np.size(part) == 0 else None)
    if not np.issubdtype(numbers.dtype, np.integer):
        raise IndexError(f"nodes are numbered by integers, not {numbers.dtype}")
    return numbers.astype(np.intp, copy=False)


def _in_range(numbers: IndexArray, size: int) -> IndexArray:
    """Node numbers, counted from the end where they are negative."""
    if numbers.size == 0:
        return numbers
    first, last = numbers.min(), numbers.max()
    if first < -size or last >= size:
        raise IndexError(f"there are nodes 0 to {size - 1} only")
    return np.where(numbers < 0, numbers + size, numbers) if first < 0 else numbers


def whole(matrix: FloatArray | PairField) -> FloatArray:
    """A matrix as an array.

    Raises:
        AllPairsError: It is none, because the network has too many nodes.
    """
    return np.asarray(matrix)


def _refuse(nodes: int) -> NoReturn:
    raise AllPairsError(f"what lies between all {nodes:,} nodes doesn't fit into memory at once")


def _parts(block: NDArray[Any]) -> list[NDArray[Any]]:
    """A block of many entries as views of its rows, some at a time."""
    count = -(-block.size // AT_ONCE)
    return np.array_split(block, min(count, len(block)))
