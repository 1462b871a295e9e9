"""What Python calls of the compiled search, compiled before the clock of a search runs."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba import float64, int64

from berth.policies.local_search.anneal import anneal, typical_change
from berth.policies.local_search.case import Case
from berth.policies.local_search.energy import current_value, note_best
from berth.policies.local_search.moves import rebuild
from berth.policies.local_search.plain import Plain, Walk
from berth.policies.local_search.plain_anneal import plain_anneal
from berth.policies.local_search.start import first_nodes
from berth.policies.local_search.state import State
from berth.space.compiled import must_compile

typeof: Any = numba.typeof
_whole, _real, _words = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.uint64)
_both = (typeof(Case(_whole, _real)), typeof(State(_whole, _real)))
_square, _marks = np.zeros((1, 1)), np.zeros((1, 1), np.uint8)
_plain = typeof(
    Plain(_whole, _marks, _whole, _whole, _whole, _real, _square, _square, _square, _square, _square, _real)
)
_walk = typeof(Walk(_whole, _whole, _square, _square, _real))
_SIGNATURES: dict[Any, tuple[Any, ...]] = {
    anneal: (*_both, typeof(_words), typeof(_whole), float64, float64),
    typical_change: (*_both, typeof(_words), int64),
    first_nodes: (*_both, typeof(_whole), typeof(_whole), typeof(_words)),
    rebuild: (*_both, typeof(_whole)),
    note_best: _both,
    current_value: _both,
    plain_anneal: (_plain, _walk, typeof(_words), typeof(_whole), float64, float64),
}


def must_compile_any() -> bool:
    """Whether some of it was never compiled here."""
    return any(must_compile(function) for function in _SIGNATURES)


def compile_all() -> None:
    """Compile everything, or load what was compiled before."""
    for function, signature in _SIGNATURES.items():
        function.compile(signature)
