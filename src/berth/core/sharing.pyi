"""Many applications that share operators and data objects (paper 004), compiled.

A `Case` is the problem as arrays and never changes. A `State` is a partial or whole plan with all its loads;
every operation changes only what it touches, and `undo` takes back what was done since the last `keep`. A
`Heuristic` and a `Search` work on a state. Numbers are those of the problem's instances, operators, objects
and nodes; -1 stands for none.
"""

from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

class LoadNumbers:
    """The numbers of loads: counts of mistakes, bytes that cross, place limits, cards, ports and links."""

    @property
    def misplaced(self) -> int: ...
    @property
    def separated(self) -> int: ...
    @property
    def unlinked(self) -> int: ...
    @property
    def unfetched(self) -> int: ...
    @property
    def overworked(self) -> int: ...
    @property
    def crossed(self) -> int: ...
    @property
    def card(self) -> int:
        """Of the first node; those of all others follow, then sending and receiving ports."""
    @property
    def link(self) -> int:
        """Of the first link; those of all others follow, to the end."""

class Case:
    """A problem, copied from an object that has its arrays: `berth.policies.sharing.case.Case`."""

    def __init__(self, arrays: object) -> None: ...
    @property
    def first_loads(self) -> list[int]:
        """Of every place limit, the number of its first place's load."""
    @property
    def loads(self) -> LoadNumbers: ...
    @property
    def limit(self) -> NDArray[np.float64]:
        """Of every load."""

class Status(Enum):
    """Of an operator: computed as soon as it has nodes, taken from its provider, or not needed."""

    WANTED = 0
    REUSED = 1
    SKIPPED = 2

class Snapshot:
    """All values of a state at one time."""

class State:
    """A partial or whole plan. At first nothing is placed, and everything is wanted."""

    def __init__(self, case: Case) -> None: ...
    @property
    def node_of(self) -> NDArray[np.int32]:
        """By instance. This and the other arrays show the present values; they can't be written to."""
    @property
    def provider(self) -> NDArray[np.int32]:
        """By operator: whose result stands for its own; itself unless reused."""
    @property
    def hosted(self) -> NDArray[np.int32]:
        """By node: how many instances are there."""
    @property
    def statuses(self) -> NDArray[np.uint8]:
        """By operator, as numbers; a copy."""
    @property
    def loads(self) -> NDArray[np.float64]:
        """By number; a copy."""
    @property
    def downloads(self) -> list[tuple[int, int, int]]:
        """Object, source and target of everything that is fetched."""
    @property
    def unplaced(self) -> int:
        """How many wanted instances have no node."""
    @property
    def holds(self) -> bool:
        """Whether the plan so far keeps every constraint that a case knows."""
    @property
    def complete(self) -> bool:
        """The same, and every wanted instance has a node."""
    def status(self, operator: int) -> Status: ...
    def placed(self, operator: int) -> bool:
        """Whether all its instances have nodes."""
    def matched(self, wanting: int, giving: int) -> bool:
        """Whether one operator's needs fall to another, because of what is reused."""
    def can_reuse(self, taker: int, provider: int) -> bool:
        """Whether it is equal and computed, and nobody takes the taker's own result."""
    def exceeded(self) -> int:
        """A load above its limit: the last one to become so, else the first; -1: none."""
    def move(self, instance: int, node: int) -> None:
        """Compute an instance of a wanted operator on a node, wherever it was; -1: nowhere."""
    def move_operator(self, operator: int, node: int) -> None: ...
    def reuse(self, taker: int, provider: int) -> None:
        """Take a result instead of computing it (`can_reuse` first); what nobody needs then is skipped."""
    def reuse_any(self, taker: int) -> bool:
        """Take the result of the first equal operator that is computed; whether there is one."""
    def compute(self, operator: int) -> None:
        """End a reuse: the operator, and what feeds it, need nodes again."""
    def set_source(self, object: int, node: int, source: int) -> None:
        """Fetch an object that a node needs from this holder, which must be linked."""
    def keep(self) -> None:
        """Let what was done stay: a later `undo` comes back to here."""
    def undo(self) -> None:
        """Put everything back as it was at the last `keep` or `undo`."""
    def snapshot(self) -> Snapshot: ...
    def resume(self, snapshot: Snapshot) -> None:
        """Go on from a plan of before."""

class ProcessorChoice(Enum):
    """How a new processor is chosen; with the first two, what was chosen once is never offered again."""

    FASTEST = 0
    BIGGEST_CARD = 1
    FASTEST_REMAINING = 2
    BIGGEST_CARD_REMAINING = 3

class Direction(Enum):
    """What an operator is put beside: consumers and inputs, consumers, inputs, inputs.

    `CLIMBING` takes results as high up in the tree as it can.
    """

    ANY = 0
    TOP_DOWN = 1
    BOTTOM_UP = 2
    CLIMBING = 3

class Heuristic:
    """One pass over operators, without going back."""

    def __init__(
        self,
        state: State,
        order: ArrayLike,
        direction: Direction,
        processors: ProcessorChoice,
        *,
        reuse: bool,
        retry: bool,
        relatives_of_chosen: bool,
    ) -> None: ...
    def run(self) -> bool:
        """Go on for a moment; whether it is at its end."""
    @property
    def attempts(self) -> int: ...
    @property
    def stuck_at(self) -> int:
        """The operator that found no processor; -1: all went well."""
    @property
    def blocked_by(self) -> int:
        """The load that was in the way then; -1: no processor was left to try."""

class Energy:
    """What a plan counts for: excess of limits, cost, instances that have left their home."""

    @property
    def excess(self) -> float: ...
    @property
    def cost(self) -> float: ...
    @property
    def moved(self) -> float: ...

class Search:
    """Local search over the plans of a state."""

    def __init__(self, state: State, seed: int) -> None: ...
    def aim(
        self,
        *,
        limit: ArrayLike,
        node_price: ArrayLike,
        crossed_price: float,
        busy_price: float,
        nodes: ArrayLike,
        home: ArrayLike,
        stay: float,
        fixed: ArrayLike,
    ) -> None:
        """Set what is aimed at.

        Args:
            limit: of every load; at most that of the case.
            node_price: of every node that hosts anything.
            crossed_price: of a byte per second that crosses the network.
            busy_price: of a processor that is busy all the time.
            nodes: those that are offered.
            home: where every instance was before; -1: nowhere.
            stay: the price of an instance that has left its home, or is not computed any more.
            fixed: operators that are not to be touched.
        """
    @property
    def energy(self) -> Energy: ...
    def start(self, *, hot: float, cold: float, steps: int, enough: float) -> None:
        """Begin a round: worse plans are taken with a chance that falls from hot to cold.

        The round ends early once nothing exceeds a limit and the cost is at most `enough`.
        """
    def anneal(self) -> bool:
        """Go on with the round for a moment; whether it is at its end."""
    @property
    def steps_taken(self) -> int: ...
    def clear(self) -> None:
        """Take everything from nodes that are not offered."""
    def place_all(self, first: int) -> int:
        """Place wanted instances, from one of them on, where least is exceeded and paid.

        Goes on for a moment; returns the instance to go on with.
        """
    def go_home(self) -> None:
        """Bring instances back to where they were before, as far as all constraints stay kept."""
