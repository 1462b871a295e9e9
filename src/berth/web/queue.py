"""Solves and explanations in the background, each in a process of its own."""

from __future__ import annotations

import logging
import re
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import SubprocessError
from typing import Any, Literal

from berth.disk import sync
from berth.evaluation.goal import Goal
from berth.files import plan_from, plan_text
from berth.files.document import NotWritten
from berth.files.mistakes import Mistake
from berth.model import BadInput, Plan, Problem
from berth.policies.front import check_front
from berth.policies.policy import parameters_from
from berth.policies.registry import find_policy
from berth.processes import ChildProcess, Limits
from berth.web.answers import Refused, missing, unprocessable, without_places
from berth.web.audit import Audit
from berth.web.documents import LONGEST_REASON, brief
from berth.web.jobs import Job, JobFolder, new_id, read_outcome, write_request
from berth.web.plans import Plans
from berth.web.problems import Problems
from berth.web.quota import Quota
from berth.web.security import Settings
from berth.web.worker import NOT_WRITTEN, problem_as_requested
from berth.web.workspace import Content

log = logging.getLogger("berth.web")
BEYOND_SECONDS = 30.0
"""A policy that doesn't keep to its time limit is ended after twice that and this."""
GRACE_SECONDS = 15.0
"""For a process that was told to stop."""
LAST_SECONDS = 5.0
"""For running jobs to hand in what they have when the service ends."""
RETRY_SECONDS = "10"
SAVE_AGAIN_SECONDS = 5.0
"""Between two times that records are tried which the disk didn't take."""
FILES_OF_A_JOB = 6
"""Its record, request, problem, events, log and outcome."""
EXPLAIN_BEYOND_SECONDS = 60.0


def start_worker(folder: Path, seconds: float, settings: Settings) -> ChildProcess:
    """Start a process that works on the request in a folder.

    It may crash, hang or eat memory without harm to the service; whatever it starts ends with it.
    """
    limits = Limits(seconds, settings.memory_bytes, GRACE_SECONDS, settings.processor_s)
    return ChildProcess.running(
        "berth.web.worker", str(folder), name="the solver", limits=limits, log=folder / "log.txt"
    )


class JobQueue:
    """All jobs of a service, from the beginning; those of earlier services are found again."""

    def __init__(
        self,
        settings: Settings,
        folder: JobFolder,
        problems: Problems,
        plans: Plans,
        audit: Audit,
        quota: Quota,
    ) -> None:
        self._settings = settings
        self._quota = quota
        self._audit = audit
        self._folder = folder
        self._problems = problems
        self._plans = plans
        self._changed = threading.Condition()
        self._jobs: dict[str, Job] = {}
        self._waiting: deque[str] = deque()
        self._workers: dict[str, ChildProcess] = {}
        self._unsaved: set[str] = set()
        self._ending = False
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Find what is there, and begin to work."""
        for job in self._folder.all():
            self._jobs[job.id] = job
            if job.state == "waiting":
                self._waiting.append(job.id)
            elif not job.over:
                self._finish(job, "the service ended while it ran", broken=True)
        for number in range(self._settings.workers):
            thread = threading.Thread(target=self._work, name=f"berth jobs {number}", daemon=True)
            thread.start()
            self._threads.append(thread)

    def end(self) -> None:
        """Let running jobs hand in what they have, then end them; those that wait stay for the next time."""
        with self._changed:
            self._ending = True
            running = list(self._workers.items())
            self._changed.notify_all()
        for identity, worker in running:
            self._change(identity, state="cancelling", reason="the service was stopped")
            worker.stop()
        until = time.monotonic() + LAST_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        for _, worker in running:
            worker.kill("the service was stopped")
        for thread in self._threads:
            thread.join(LAST_SECONDS)
        self.save_again()

    def dead_threads(self) -> int:
        """How many of those that work on jobs are gone."""
        return 0 if self._ending else sum(not thread.is_alive() for thread in self._threads)

    def counts(self) -> dict[str, int]:
        """How many run and wait."""
        with self._changed:
            return {"running": len(self._workers), "waiting": len(self._waiting)}

    def submit(self, request: Mapping[str, Any], author: str, *, told_apart: bool = False) -> dict[str, Any]:
        """Take a job on; where people are told apart, each has a share of the queue.

        Raises:
            Refused: there are mistakes in it, or too many wait.
        """
        content, reading = self._problems.reading(str(request["problem"]))
        problem = problem_as_requested(reading.ready, request)
        if request.get("name") is not None:
            self._plans.check_name(str(request["name"]))
        return self._taken_on("solve", request, content, problem, author, told_apart)

    def submit_front(
        self, request: Mapping[str, Any], author: str, *, told_apart: bool = False
    ) -> dict[str, Any]:
        """Take the search for a front on, as `submit` does.

        Raises:
            Refused: there are mistakes in it, or too many wait.
        """
        content, reading = self._problems.reading(str(request["problem"]))
        first, second = request["objectives"]
        policy = find_policy(str(request["policy"]))
        try:
            check_front(reading.ready, first, second, int(request["points"]), policy)
        except BadInput as error:
            raise error.reworded(lambda line: re.sub("^(--)?objective", "objectives", line)) from None
        return self._taken_on(
            "front", request, content, reading.ready.for_goal({first: 1.0}), author, told_apart
        )

    def _taken_on(
        self,
        kind: Literal["solve", "front"],
        request: Mapping[str, Any],
        content: Content,
        problem: Problem,
        author: str,
        told_apart: bool,
    ) -> dict[str, Any]:
        """A new job at the end of the queue."""
        policy = find_policy(str(request["policy"]))
        parameters_from(policy.parameters, request.get("parameters") or {}, policy.about.name)
        if request["time_limit"] > self._settings.longest_solve_s:
            most = f"{self._settings.longest_solve_s:g}"
            raise BadInput(
                [f"time_limit: {request['time_limit']:g} is above {most}, the most that is allowed"]
            )
        extra = {}
        if request.get("previous") is not None:
            extra["previous.json"] = plan_text(self._plans.plan(str(request["previous"])))
        job = Job(
            id=new_id(),
            state="waiting",
            problem=content.entry.id,
            problem_name=problem.name,
            problem_etag=content.etag,
            policy=policy.about.name,
            request=request,
            created=time.time(),
            goal=problem.sought,
            maximise=Goal(problem.objective).maximise,
            author=author,
            kind=kind,
        )
        with self._changed:
            if len(self._waiting) >= self._settings.most_waiting:
                words = f"{len(self._waiting)} jobs wait already; cancel one, or come back later"
                raise Refused(429, words, headers={"Retry-After": RETRY_SECONDS})
            self._check_share(author, told_apart)
            self._quota.take(len(content.data), FILES_OF_A_JOB)
            place = self._folder.place(job.id)
            try:
                place.mkdir()
                write_request(place, kind, request, content, extra)
                self._folder.save(job)
                sync(place.parent)
            except BaseException:
                self._folder.forget(job.id)
                raise
            self._jobs[job.id] = job
            self._waiting.append(job.id)
            self._changed.notify()
        return self.document(job.id)

    def _check_share(self, author: str, told_apart: bool) -> None:
        """Refuse what would leave too little of the queue to others."""
        own = sum(job.author == author and not job.over for job in self._jobs.values())
        if told_apart and own >= self._settings.jobs_per_person:
            words = f"{own} jobs of {author} wait or run already; cancel one, or come back later"
            raise Refused(429, words, headers={"Retry-After": RETRY_SECONDS})

    def front(self, identity: str) -> dict[str, Any]:
        """The front that a job has found.

        Raises:
            Refused: the job has found none, or is not over yet.
        """
        job = self.job(identity)
        if job.kind == "front" and not job.over:
            raise Refused(409, f"the job is not over: {job.state}")
        outcome = read_outcome(self._folder.place(identity)) if job.kind == "front" else None
        if outcome is None or "front" not in outcome:
            raise missing(f"front of job {identity!r}")
        found: dict[str, Any] = outcome["front"]
        return found

    def list(self, state: str | None, problem: str | None, limit: int) -> list[dict[str, Any]]:
        """Jobs, the newest first."""
        with self._changed:
            jobs = sorted(self._jobs.values(), key=lambda job: (job.created, job.id), reverse=True)
        fitting = (
            job
            for job in jobs
            if (state is None or job.state == state) and (problem is None or job.problem == problem)
        )
        listed = [job for job, _ in zip(fitting, range(limit), strict=False)]
        return [self._document(job) | {"request": brief(job.request)} for job in listed]

    def job(self, identity: str) -> Job:
        """A job.

        Raises:
            Refused: there is none.
        """
        with self._changed:
            if identity not in self._jobs:
                raise missing(f"job {identity!r}")
            return self._jobs[identity]

    def is_over(self, identity: str) -> bool:
        """Whether a job is over, or forgotten."""
        with self._changed:
            return identity not in self._jobs or self._jobs[identity].over

    def document(self, identity: str) -> dict[str, Any]:
        """A job for answers."""
        return self._document(self.job(identity))

    def _document(self, job: Job) -> dict[str, Any]:
        with self._changed:
            place = self._waiting.index(job.id) + 1 if job.id in self._waiting else None
        return self._folder.latest(job).document(place)

    def cancel(self, identity: str) -> dict[str, Any]:
        """End a job with the best plan that it has.

        Raises:
            Refused: it is over.
        """
        with self._changed:
            job = self.job(identity)
            if job.over:
                raise Refused(409, f"the job is over: {job.state}")
            if identity in self._waiting:
                self._waiting.remove(identity)
                self._change(
                    identity, state="cancelled", reason="cancelled before it began", ended=time.time()
                )
            elif job.state == "running":
                self._change(identity, state="cancelling")
                worker = self._workers.get(identity)
                if worker is not None:
                    worker.stop()
        return self.document(identity)

    def remove(self, identity: str) -> bool:
        """Forget a job that is over, or cancel one that isn't; whether it is forgotten."""
        with self._changed:
            if not self.job(identity).over:
                self.cancel(identity)
                return False
            del self._jobs[identity]
        self._folder.forget(identity)
        self._quota.measure_again()
        return True

    # the threads that work

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._see_to_its_end(job)
                self._forget_old()
                self.save_again()
            except Exception as error:
                # whatever it is, it is this job's end, and the next one's turn
                log.exception("job %s failed", job.id)
                self._fail(job.id, f"the service failed: {type(error).__name__}: {error}")

    def _next(self) -> Job | None:
        """The next job, which has begun; None when the service ends."""
        with self._changed:
            while not self._waiting and not self._ending:
                self._changed.wait(SAVE_AGAIN_SECONDS if self._unsaved else None)
                self.save_again()
            if self._ending:
                return None
            job = self._jobs[self._waiting.popleft()]
            seconds = 2 * float(job.request["time_limit"]) + BEYOND_SECONDS
            try:
                worker = start_worker(self._folder.place(job.id), seconds, self._settings)
            except (OSError, SubprocessError) as error:
                reason = error.strerror if isinstance(error, OSError) else None
                self._fail(job.id, f"no process could be started: {reason or error}")
            else:
                self._workers[job.id] = worker
                self._change(job.id, state="running", started=time.time())
            return job

    def _see_to_its_end(self, job: Job) -> None:
        worker = self._workers.get(job.id)
        if worker is None:
            return
        try:
            while not worker.wait():
                pass
        finally:
            worker.kill("the service failed")
            with self._changed:
                self._workers.pop(job.id, None)
        unwritten = worker.exit_code == NOT_WRITTEN
        self._finish(self.job(job.id), "its result can't be written" if unwritten else worker.why_ended())

    def _fail(self, identity: str, reason: str) -> None:
        with self._changed:
            if identity in self._jobs and not self._jobs[identity].over:
                reason = without_places(reason)[:LONGEST_REASON]
                self._change(identity, state="failed", reason=reason, ended=time.time())

    def _finish(self, job: Job, death: str, *, broken: bool = False) -> None:
        """Make what a process left into the job's end; `death` says why there is nothing, if so."""
        try:
            end = self._end(job, death, broken)
        except (BadInput, Refused, OSError) as error:
            log.warning("job %s: %s", job.id, error)
            reason = f"its plan can't be stored: {error}"
            end = {"state": "failed", "reason": without_places(reason)[:LONGEST_REASON]}
        # what a plan doesn't say stays as the last progress had it
        told = {name: value for name, value in end.items() if value is not None}
        if "reason" in told:
            told["reason"] = brief(told["reason"], LONGEST_REASON)
        self._set(replace(self._folder.latest(job), **told, ended=time.time()))

    def _end(self, job: Job, death: str, broken: bool) -> dict[str, Any]:
        cancelled = job.state == "cancelling"
        outcome = read_outcome(self._folder.place(job.id))
        if outcome is None:
            state = "broken" if broken else "cancelled" if cancelled else "failed"
            return {"state": state, "reason": job.reason or death}
        if "error" in outcome:
            return {"state": "failed", "reason": without_places(str(outcome["error"]))}
        state = "cancelled" if cancelled else "done"
        if job.kind == "front":
            front = outcome["front"]
            reason = job.reason or front["reason"]
            return {
                "state": state,
                "status": front["status"],
                "reason": reason,
                "points": len(front["points"]),
            }
        plan = plan_from(outcome["plan"])
        return {
            "state": state,
            "plan": self._stored(job, plan) if plan.found else None,
            "goal": outcome["plan"].get("goal") or job.goal,
            "maximise": Goal(plan.first_goal).maximise if plan.goal else job.maximise,
            "status": plan.status,
            "reason": job.reason or plan.reason,
            "violations": len(plan.violations),
            "objective": plan.objective,
            "bound": plan.bound,
            "gap": plan.gap,
            "metrics": dict(plan.metrics),
        }

    def _stored(self, job: Job, plan: Plan) -> str:
        """The id of the plan's file; a name that is taken meanwhile gets a number."""
        name = job.request.get("name")
        try:
            entry = self._plans.create(plan, None if name is None else str(name), job.author).entry
        except Refused:
            if name is None:
                raise
            entry = self._plans.create(plan, None, job.author).entry
        self._audit.note(
            job.author, "store the plan of a job", "done", {"file": str(entry.path), "job": job.id}
        )
        return entry.id

    def _change(self, identity: str, **values: Any) -> None:
        with self._changed:
            self._set(replace(self._jobs[identity], **values))

    def _set(self, job: Job) -> None:
        """What is known of a job from now on; where the disk takes no record of it, it holds all the same."""
        with self._changed:
            self._jobs[job.id] = job
            try:
                self._folder.save(job)
            except (NotWritten, OSError) as error:
                if job.id not in self._unsaved:
                    log.warning("job %s: no record of it for now: %s", job.id, error)
                self._unsaved.add(job.id)
            else:
                self._unsaved.discard(job.id)

    def save_again(self) -> None:
        """Write the records that the disk didn't take: after the next start, such jobs would run again."""
        with self._changed:
            for identity in list(self._unsaved):
                if identity in self._jobs:
                    self._set(self._jobs[identity])
                else:
                    self._unsaved.discard(identity)

    def _forget_old(self) -> None:
        with self._changed:
            over = sorted(job.id for job in self._jobs.values() if job.over)
            old = over[: max(0, len(over) - self._settings.jobs_kept)]
            for identity in old:
                del self._jobs[identity]
        for identity in old:
            self._folder.forget(identity)


class Explaining:
    """Explains plans, which may mean solving again."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self._settings = settings
        self._folder = folder
        self._workers: set[ChildProcess] = set()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    def explain(
        self,
        problem: Content,
        plan: Plan,
        operators: list[str],
        what_if: str,
        time_limit: float,
        gone: threading.Event,
    ) -> dict[str, Any]:
        """As `berth explain --json`; for nothing once `gone` says that nobody waits for it.

        Raises:
            Refused: mistakes; it took too much.
        """
        place = Path(tempfile.mkdtemp(dir=self._folder))
        try:
            request = {"operators": operators, "what_if": what_if, "time_limit": time_limit}
            write_request(place, "explain", request, problem, {"plan.json": plan_text(plan)})
            return self._outcome(place, time_limit, gone)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def end(self) -> None:
        """End what is under way."""
        for worker in list(self._workers):
            worker.kill("the service was stopped")

    def _outcome(self, place: Path, time_limit: float, gone: threading.Event) -> dict[str, Any]:
        seconds = 2 * time_limit + EXPLAIN_BEYOND_SECONDS
        worker = start_worker(place, seconds, self._settings)
        self._workers.add(worker)
        try:
            while not worker.wait():
                if gone.is_set():
                    worker.kill("nobody waits for it any more")
        finally:
            self._workers.discard(worker)
        outcome = read_outcome(place)
        if outcome is None:
            raise Refused(503, f"no explanation: {worker.why_ended()}")
        if "error" in outcome:
            if outcome["mistakes"]:
                raise unprocessable(
                    [
                        Mistake(**each | {"message": without_places(each["message"])})
                        for each in outcome["mistakes"]
                    ]
                )
            raise Refused(503, f"no explanation: {without_places(outcome['error'])}")
        explanation: dict[str, Any] = outcome["explanation"]
        return explanation
