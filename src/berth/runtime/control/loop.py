"""The control loop: let it run, measure, plan again, decide, move, write it down."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from berth.amounts import counted
from berth.evaluation import evaluate
from berth.model import BadInput, Plan, Problem
from berth.runtime.control.decision import NO_WORK, Decision, Look, Memory, decide, failing_over
from berth.runtime.control.failovers import prepared, stored_failover
from berth.runtime.control.history import Event, History, Name
from berth.runtime.control.offers import PlanValue, Yardstick
from berth.runtime.control.options import WatchOptions
from berth.runtime.control.replan import Replan, next_plan
from berth.runtime.control.watched_problem import (
    computed_for_itself,
    source_rate,
    waits_for_work,
    with_state,
    without_nodes,
)
from berth.runtime.running import ENDS, NODE_LOST, RUNNING, MigrationFailed, Run

GLANCE_SECONDS = 0.5
"""While something is being measured the run is looked after so often."""
Measure = Callable[[Path, Problem, float], Problem]
"""Gives a problem with what the telemetry of the last so many seconds says."""


@dataclass(frozen=True)
class Proposal:
    """A move that somebody is asked about: both plans judged under the problem as it is now."""

    problem: Problem
    before: Plan
    after: Plan
    decision: Decision


@dataclass
class ControlLoop:
    """Watches a running application until it ends, and moves it when that is worth it."""

    running: Run
    """The application, running by `plan`."""
    problem: Problem
    """What is known: at the start, then as it was measured."""
    plan: Plan
    measure: Measure
    """Gives the measured problem; what it raises is written down, and the problem before stays."""
    options: WatchOptions
    history: History
    """Where everything is written down."""
    ask: Callable[[Proposal], bool] = lambda proposal: True
    """Whether a move may be made, where the options want to know."""
    clock: Callable[[], float] = time.time
    """Seconds since 1970."""
    beside: Executor = field(
        default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="berth measuring")
    )
    """Where measuring happens."""

    def __post_init__(self) -> None:
        self.problem = computed_for_itself(self.problem)
        self._application = self.running.placement.application
        self._yardstick = Yardstick.of(self.problem)
        self._memory = Memory()
        self._dead: frozenset[str] = frozenset()
        self._measuring: Future[Problem] | None = None
        self._running_since = self.clock()
        self._stranded = False
        """Whether a migration failed, so that nothing runs."""
        self._noticed = self.clock()
        """When a node was last seen to be dead."""
        self._warned: set[str] = set()
        """What was last warned of."""

    def run(self, seconds: float | None = None, reason: str = "") -> str:
        """Watch until the run ends, or so many seconds are over.

        Args:
            seconds: None: until the run ends.
            reason: why the first plan is what it is.

        Returns:
            How it ended: `finished`, `failed` or `stopped`.
        """
        until = float("inf") if seconds is None else self.clock() + seconds
        self._running_since = self.clock()
        self._prepare()
        self._note("started", reason, value_achieved=self._value(), source_bytes_per_s=self._rate())
        self._warn()
        try:
            while self.clock() < until:
                word = self._wait(until)
                if word in ENDS:
                    return self._end(word, "")
                if self.clock() < until or word == NODE_LOST:
                    self._look()
            return self._end("stopped", f"after {seconds:g} s, as asked")
        except KeyboardInterrupt:
            self._end("stopped", "interrupted")
            raise
        finally:
            self.beside.shutdown(wait=False, cancel_futures=True)

    def _wait(self, until: float) -> str:
        """Until the next look is due and something is measured, or the run has something to say."""
        look_at = min(self.clock() + self.options.every_s, until)
        while (left := look_at - self.clock()) > 0:
            if self.running.dead_nodes() - self._dead:
                # it died while nobody waited
                return NODE_LOST
            word = self.running.wait(left)
            if word == NODE_LOST and self.running.dead_nodes() == self._dead:
                # it has been dealt with as far as it can be
                time.sleep(GLANCE_SECONDS)
            elif word != RUNNING:
                return self._said(word)
        return self._measured(until) if self.clock() < until else RUNNING

    def _said(self, word: str) -> str:
        """What a run says; a failure beside a node that has just died is the node's."""
        died = self.running.dead_nodes() - self._dead if word == "failed" else set()
        return NODE_LOST if died & set(self.plan.assignment.values()) else word

    def _end(self, word: str, reason: str) -> str:
        names: dict[str, Name] = {"finished": "finished", "failed": "failed"}
        self._note(names.get(word, "stopped"), reason)
        return word

    # measuring

    def _measured(self, until: float) -> str:
        """Measure, and look after the run meanwhile; what the run says if it is no longer just running."""
        if self._measuring is None:
            now = self.clock()
            span = min(self.options.memory, now - self._running_since)
            self._measuring = self.beside.submit(self._measure_now, self.problem, span)
        while not self._measuring.done():
            word = self.running.wait(min(GLANCE_SECONDS, max(0.0, until - self.clock())))
            if word != RUNNING or self.clock() >= until:
                return self._said(word)
        return RUNNING

    def _measure_now(self, problem: Problem, seconds: float) -> Problem:
        self.running.flush()
        return self.measure(self.running.telemetry, problem, seconds)

    def _take_measured(self) -> bool:
        """Take what was measured; False: there is nothing new."""
        if self._measuring is None or not self._measuring.done():
            return False
        future, self._measuring = self._measuring, None
        try:
            measured = future.result()
            self.problem = computed_for_itself(
                with_state(measured, self._application, self.running.state_bytes())
            )
        except Exception as error:
            # one bad measurement is no reason to leave a running application alone
            self._note("measuring failed", _line(error))
            return False
        return True

    # looking

    def _look(self) -> None:
        self._note_nodes()
        if self._stranded and not self._in_need():
            self._return()
        if self._in_need() and self._failed_over():
            return
        fresh = self._take_measured()
        if fresh:
            self._prepare()
        replan = self._replan(fresh)
        self._yardstick = self._yardstick.learnt(replan.bounds)
        if fresh:
            promise = self._memory.promise
            self._note(
                "looked",
                value_promised=None if promise is None else promise.judged.value,
                value_achieved=self._value(),
                source_bytes_per_s=self._rate(),
            )
            self._warn()
        look = Look(self.clock(), self.problem, self.plan, self._dead, replan, fresh, not self._blind)
        decision, self._memory = decide(self._memory, look, self._yardstick, self.options)
        self._act(decision)

    def _note_nodes(self) -> None:
        dead = frozenset(self.running.dead_nodes())
        if dead - self._dead:
            self._noticed = self.clock()
        for node in sorted(dead - self._dead):
            hosted = sum(home == node for home in self.plan.assignment.values())
            self._note("node lost", f"{counted(hosted, 'instance')} planned there", node=node)
        for node in sorted(self._dead - dead):
            self._note("node back", "it may be used again", node=node)
        self._dead = dead

    def _in_need(self) -> bool:
        """Whether the plan needs a node that is dead."""
        return any(node in self._dead for node in self.plan.assignment.values())

    def _prepare(self) -> None:
        """Have failovers ready for the plan that runs, and executors where they lead."""
        self.plan = prepared(without_nodes(self.problem, self._dead), self.plan)
        self.running.stand_by({node for moves in self.plan.failover.values() for node in moves.values()})

    def _failed_over(self) -> bool:
        """Leave dead nodes by the failover that is in store, without planning; False: there is none."""
        target = stored_failover(self.problem, self.plan, self._dead)
        if target is None or self._memory.why_not(target, self.clock()) is not None:
            return False
        yardstick, known = self._yardstick, not self._blind
        self._act(failing_over(self.problem, self.plan, target, self._dead, yardstick, self.options, known))
        return True

    def _replan(self, fresh: bool) -> Replan:
        if not fresh and not self._in_need():
            return Replan(self.plan)
        if self._blind and not self._in_need() and not self._judged_now().violations:
            return Replan(self.plan, NO_WORK)
        try:
            return next_plan(
                self.problem, self.plan, self._dead, self.options, self._yardstick, self._application
            )
        except BadInput as error:
            return Replan(None, _line(error), "unknown")

    # acting

    def _act(self, decision: Decision) -> None:
        if not decision.moves:
            names: dict[str, Name] = {"wait": "waited", "stuck": "stuck"}
            self._note_decision(names.get(decision.kind, "kept"), decision)
            return
        assert decision.offer is not None
        target = decision.offer.plan
        if self.options.dry_run:
            self._note_decision("proposed", decision, plan=target)
            self._avoid(target, self.options.cool_down_s, "was proposed already")
        elif self.options.approve and not self.ask(self._proposal(decision, target)):
            self._note_decision("declined", decision, plan=target)
            self._avoid(target, self.options.distrust_s, "was declined")
        elif (word := self.running.wait(0.0)) not in ENDS:
            # asking may have taken long: what has ended isn't moved
            self._move(decision, target)
        else:
            self._note_decision("kept", replace(decision, reason=f"the run is over: {word}"))

    def _proposal(self, decision: Decision, target: Plan) -> Proposal:
        before, after = (
            _judged(self.problem, plan, self.plan, self._yardstick) for plan in (self.plan, target)
        )
        return Proposal(self.problem, before, after, decision)

    def _move(self, decision: Decision, target: Plan) -> None:
        assert decision.offer is not None
        noticed_s = self.clock() - self._noticed if self._in_need() else None
        try:
            migration = self.running.apply(target)
        except (BadInput, MigrationFailed) as error:
            self._note_decision("migration failed", replace(decision, reason=_line(error)), plan=target)
            self._avoid(target, self.options.distrust_s, "could not be applied")
            if isinstance(error, BadInput):
                return
            self._stranded = True
            self._note_nodes()
            if not self._in_need():
                self._return()
            return
        now, self._stranded = self.clock(), False
        before, self.plan = self.plan, target
        # what was measured so far, and is being measured now, is about the plan before
        self._measuring = None
        self.running.flush()
        self._running_since = self.clock()
        back = decision.kind == "roll back"
        if back:
            self._memory = self._memory.rolled_back(now, before, self.options)
        else:
            self._memory = self._memory.migrated(now, before, decision.offer.judged)
            if self._blind:
                # what was computed without the work promises nothing
                self._memory = replace(self._memory, promise=None)
        self._note_decision(
            "rolled back" if back else "migrated",
            decision,
            moved=migration.moved,
            pause_s=migration.pause_seconds,
            state_bytes=migration.state_bytes,
            noticed_s=noticed_s,
        )
        self._prepare()

    def _return(self) -> None:
        """Go on by the plan before, after a migration that failed."""
        try:
            migration = self.running.apply(self.plan)
        except (BadInput, MigrationFailed) as error:
            self._note("migration failed", _line(error))
            return
        self._stranded, self._running_since = False, self.clock()
        self._note("rolled back", "back to the plan before", pause_s=migration.pause_seconds)

    def _avoid(self, plan: Plan, seconds: float, why: str) -> None:
        self._memory = self._memory.avoiding(plan, self.clock() + seconds, why)

    # writing down

    def _note_decision(
        self, name: Name, decision: Decision, plan: Plan | None = None, **more: object
    ) -> None:
        offer = decision.offer
        values: dict[str, object] = {} if self._blind else {"value_before": decision.before.value}
        if offer is not None:
            if not self._blind:
                values |= {"value_promised": offer.judged.value, "gain": offer.gain}
            if decision.moves:
                values["moved"] = offer.moved
        self._note(name, decision.reason, plan, **(values | more))

    def _note(self, name: Name, reason: str = "", plan: Plan | None = None, **values: object) -> None:
        chosen = self.plan if plan is None else plan
        number = self.history.plan_number(chosen)
        event = Event(self.clock(), name, reason, number, dict(chosen.assignment))
        self.history.record(replace(event, **values))  # type: ignore[arg-type]

    def _warn(self) -> None:
        """Tell what the plan that runs has too much of to do, once, and again when that has changed."""
        lines = self._judged_now().warnings
        about = {line.partition(":")[0] for line in lines}
        if about - self._warned:
            self._note("warned", "; ".join(lines))
        self._warned = about

    @property
    def _blind(self) -> bool:
        """Whether nobody knows yet what plans are worth: response times of delays alone mean little."""
        return waits_for_work(self.problem, self._application)

    def _judged_now(self) -> PlanValue:
        return self._yardstick.judge(self.problem, self.plan)

    def _value(self) -> float | None:
        return None if self._blind else self._judged_now().value

    def _rate(self) -> float | None:
        return source_rate(self.problem, self._application)


def _judged(problem: Problem, plan: Plan, current: Plan, yardstick: Yardstick) -> Plan:
    judged = evaluate(problem, plan, current)
    value = yardstick.judge(problem, plan).value
    return replace(
        plan,
        metrics=judged.metrics,
        violations=judged.violations,
        warnings=judged.warnings,
        objective=value,
    )


def _line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return "; ".join(lines[:3]) if lines else type(error).__name__
