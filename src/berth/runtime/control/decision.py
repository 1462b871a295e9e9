"""Whether to move: a state machine over looks, without clocks, files or Spark.

A dead node that is in use is left at once. Everything else has to be worth it: a new plan must be better by
the least gain and the price of its moves, look after look, and nothing moves during the cool-down. A plan
that turns out worse than promised is left for the one before it, and not tried again for a while.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from berth.amounts import counted, percentage
from berth.model import Plan, Problem
from berth.runtime.control.offers import Offer, Places, PlanValue, Situation, Yardstick, places_of
from berth.runtime.control.options import WatchOptions
from berth.runtime.control.replan import Replan

Kind = Literal["keep", "migrate", "roll back", "wait", "stuck"]


NO_WORK = "what plans are worth is not known yet: no work of the operators is"


@dataclass(frozen=True)
class Look:
    """What is known at one moment."""

    now: float
    problem: Problem
    """As it was measured, dead nodes and all."""
    current: Plan
    dead: frozenset[str]
    replan: Replan
    fresh: bool = True
    """Whether something was measured since the last look; what is not new confirms nothing."""
    known: bool = True
    """Whether what plans are worth can be told; not before any work is known, where it is a part of that."""


@dataclass(frozen=True)
class Decision:
    """What to do, why, and what it is worth."""

    kind: Kind
    reason: str
    before: PlanValue
    offer: Offer | None = None
    """Where to go, or where it would go."""

    @property
    def moves(self) -> bool:
        """Whether the application gets a new plan."""
        return self.kind in ("migrate", "roll back")


@dataclass(frozen=True)
class Promise:
    """What the last migration should have brought, and the plan before it."""

    before: Plan
    judged: PlanValue
    kept: int = 0
    broken: int = 0
    """Looks in a row."""


@dataclass(frozen=True)
class Pending:
    """A plan that was worth going to, in so many looks in a row."""

    plan: Plan
    looks: int


@dataclass(frozen=True)
class Memory:
    """What is remembered from look to look."""

    moved_at: float | None = None
    promise: Promise | None = None
    pending: Pending | None = None
    avoided: Mapping[Places, tuple[float, str]] = field(default_factory=dict)
    """Plans that are not tried again until some time, and why."""

    def migrated(self, now: float, before: Plan, promised: PlanValue) -> Memory:
        """After a migration that is done."""
        return replace(self, moved_at=now, promise=Promise(before, promised), pending=None)

    def rolled_back(self, now: float, failed: Plan, options: WatchOptions) -> Memory:
        """After going back from a plan that did worse than promised."""
        avoiding = self.avoiding(failed, now + options.distrust_s, "did worse than promised")
        return replace(avoiding, moved_at=now, promise=None, pending=None)

    def avoiding(self, plan: Plan, until: float, why: str) -> Memory:
        """With a plan that is not to be tried until some time."""
        return replace(self, avoided={**self.avoided, places_of(plan): (until, why)}, pending=None)

    def why_not(self, plan: Plan, now: float) -> str | None:
        """Why a plan is not to be tried now; None: it may be."""
        until, why = self.avoided.get(places_of(plan), (0.0, ""))
        return f"{why} and is not tried for {until - now:.0f} s" if until > now else None

    def up_to(self, now: float) -> Memory:
        """Without what is over."""
        return replace(self, avoided={key: value for key, value in self.avoided.items() if value[0] > now})


def decide(
    memory: Memory, look: Look, yardstick: Yardstick, options: WatchOptions
) -> tuple[Decision, Memory]:
    """What to do after a look, and what to remember of it."""
    return _Deciding(memory.up_to(look.now), look, yardstick, options).decided()


def failing_over(
    problem: Problem,
    current: Plan,
    target: Plan,
    dead: frozenset[str],
    yardstick: Yardstick,
    options: WatchOptions,
    known: bool = True,
) -> Decision:
    """To leave dead nodes at once, by a failover that was made while they were there."""
    # what it comes to after further losses is for later
    calm = replace(problem, survive=None)
    look = Look(
        0.0, calm, current, dead, Replan(target, "by the failover in store"), fresh=False, known=known
    )
    return decide(Memory(), look, Yardstick(yardstick.goal.without_losses), options)[0]


class _Deciding:
    def __init__(self, memory: Memory, look: Look, yardstick: Yardstick, options: WatchOptions) -> None:
        self._memory = memory
        self._look = look
        self._options = options
        self._yardstick = yardstick
        forced = frozenset(name for name, node in look.current.assignment.items() if node in look.dead)
        self._situation = Situation(look.problem, look.current, options, yardstick, forced)

    def decided(self) -> tuple[Decision, Memory]:
        if self._situation.forced:
            return self._leave_dead_nodes(), replace(self._memory, pending=None)
        if not self._look.fresh:
            return self._decision("keep", "nothing new was measured since the last look"), self._memory
        back = self._going_back()
        if back is not None:
            return back
        return self._going_on()

    def _decision(self, kind: Kind, reason: str, offer: Offer | None = None) -> Decision:
        return Decision(kind, reason, self._situation.judged, offer)

    # a dead node

    def _leave_dead_nodes(self) -> Decision:
        look, forced = self._look, self._situation.forced
        homes = sorted({look.current.assignment[name] for name in forced})
        verb = "is" if len(homes) == 1 else "are"
        what = f"{_listed(homes)} {verb} dead with {counted(len(forced), 'instance')}"
        plan = look.replan.plan
        if plan is None or any(node in look.dead for node in plan.assignment.values()):
            return self._decision("stuck", f"{what}: {look.replan.reason or 'no plan without it'}")
        offer = self._situation.offer(plan)
        notes = f"; {look.replan.reason}" if look.replan.reason else ""
        moves = f"{len(offer.moved)} of {len(plan.assignment)} instances move at once"
        worth = self._figures(offer) if look.known else NO_WORK
        return self._decision("migrate", f"{what}: {moves}, {worth}{notes}", offer)

    # a promise

    def _going_back(self) -> tuple[Decision, Memory] | None:
        """Back to the plan before, where the last migration doesn't keep its promise."""
        promise = self._memory.promise
        if promise is None:
            return None
        short = self._yardstick.gain(self._situation.judged, promise.judged)
        offer = self._situation.offer(promise.before)
        better = offer.net > 0 and len(offer.judged.violations) <= len(self._situation.judged.violations)
        usable = not any(node in self._look.dead for node in promise.before.assignment.values())
        if short <= self._options.tolerance or not better or not usable:
            self._memory = replace(self._memory, promise=self._kept_again(promise))
            return None
        if self._another_is_better(offer):
            # the way back would only be a detour
            return None
        seen = promise.broken + 1
        memory = replace(self._memory, promise=replace(promise, broken=seen, kept=0), pending=None)
        why = (
            f"{self._yardstick.text(promise.judged.value)} promised, "
            f"{self._yardstick.text(self._situation.judged.value)} achieved ({percentage(short)} worse); "
            f"the plan before would be {percentage(offer.gain)} better now"
        )
        waiting = self._waiting(seen)
        if waiting:
            return self._decision("wait", f"{why}; {waiting}", offer), memory
        return self._decision("roll back", why, offer), memory

    def _another_is_better(self, back: Offer) -> bool:
        """Whether there is a plan that is worth more than the way back, and worth going to by itself."""
        plan = self._look.replan.plan
        if plan is None or places_of(plan) == places_of(self._look.current) or not self._may_be_tried(plan):
            return False
        offer = self._situation.offer(plan)
        return self._is_worth_it(offer) and offer.net > back.net

    def _kept_again(self, promise: Promise) -> Promise | None:
        """A promise that was kept in enough looks is no question any more."""
        kept = promise.kept + 1
        if kept >= self._options.confirmations and not self._cooling():
            return None
        return replace(promise, kept=kept, broken=0)

    # a gain

    def _going_on(self) -> tuple[Decision, Memory]:
        pending = self._memory.pending
        if pending is not None:
            offer = self._situation.offer(pending.plan)
            if self._is_worth_it(offer) and self._may_be_tried(pending.plan):
                return self._confirmed(offer, pending.looks + 1)
        plan = self._look.replan.plan
        memory = replace(self._memory, pending=None)
        if plan is None:
            return self._decision("keep", f"no other plan: {self._look.replan.reason}"), memory
        if places_of(plan) == places_of(self._look.current):
            reason = self._look.replan.reason or "no other plan is worth its moves"
            return self._decision("keep", reason), memory
        offer = self._situation.offer(plan)
        avoided = self._memory.why_not(plan, self._look.now)
        if avoided is not None:
            return self._decision("keep", f"{self._figures(offer)} by a plan that {avoided}", offer), memory
        if not self._is_worth_it(offer):
            return self._decision("keep", self._too_little(offer), offer), memory
        return self._confirmed(offer, 1)

    def _confirmed(self, offer: Offer, looks: int) -> tuple[Decision, Memory]:
        memory = replace(self._memory, pending=Pending(offer.plan, looks))
        why = f"{self._figures(offer)} for {counted(len(offer.moved), 'instance')} moved"
        mended = len(self._situation.judged.violations) - len(offer.judged.violations)
        if mended > 0:
            why = f"{self._situation.judged.violations[0]}; a plan that breaks {mended} fewer: {why}"
        waiting = self._waiting(looks)
        if waiting:
            return self._decision("wait", f"{why}; {waiting}", offer), memory
        return self._decision("migrate", why, offer), memory

    def _is_worth_it(self, offer: Offer) -> bool:
        broken, broken_now = len(offer.judged.violations), len(self._situation.judged.violations)
        return offer.moved != {} and (
            broken < broken_now or (broken == broken_now and offer.net >= self._options.min_gain)
        )

    def _may_be_tried(self, plan: Plan) -> bool:
        usable = not any(node in self._look.dead for node in plan.assignment.values())
        return usable and self._memory.why_not(plan, self._look.now) is None

    def _too_little(self, offer: Offer) -> str:
        if len(offer.judged.violations) > len(self._situation.judged.violations):
            return f"{self._figures(offer)}, but it would break: {offer.judged.violations[0]}"
        needed = self._options.min_gain + offer.price
        moves = counted(len(offer.moved), "instance")
        return f"{self._figures(offer)} for {moves} moved; {percentage(needed)} are needed"

    # what both have to wait for

    def _waiting(self, looks: int) -> str:
        """What a move still has to wait for; empty: for nothing."""
        if looks < self._options.confirmations:
            return f"seen in {looks} of {self._options.confirmations} looks"
        left = self._cooling()
        return f"{left:.0f} s of the cool-down to go" if left else ""

    def _cooling(self) -> float:
        """Seconds of the cool-down that are left."""
        if self._memory.moved_at is None:
            return 0.0
        return max(0.0, self._memory.moved_at + self._options.cool_down_s - self._look.now)

    def _figures(self, offer: Offer) -> str:
        before, after = (self._yardstick.text(each.value) for each in (self._situation.judged, offer.judged))
        step = f"{percentage(abs(offer.gain))} {'better' if offer.gain >= 0 else 'worse'}"
        return f"{self._yardstick.name} {step} ({before} -> {after})"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
