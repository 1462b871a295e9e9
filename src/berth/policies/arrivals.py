"""What comes and goes, in which order, read from names and checked before anything is solved."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from berth.model import BadInput, Problem
from berth.model.errors import did_you_mean

ARRIVES, LEAVES = "arrive", "leave"


@dataclass(frozen=True)
class Event:
    """An application asks for a place or gives it back."""

    kind: str
    """`ARRIVES` or `LEAVES`."""
    application: str


def events_of(
    problem: Problem, given: Sequence[str] | None, leave: Sequence[str], there: Collection[str]
) -> list[Event]:
    """The events of a sequence, in order.

    Args:
        problem: whose applications come and go.
        given: names of applications, `-name` for one that leaves; None: all that are not there arrive in the
            order of the file.
        leave: applications that leave before anything else.
        there: applications that have a place at the beginning.

    Raises:
        BadInput: a name that the problem doesn't have, or an order that makes no sense.
    """
    names = {application.name for application in problem.applications}
    mistakes: list[str] = []
    present = set(there)
    events = []
    for name in leave:
        mistakes += _mistakes_of(Event(LEAVES, name), "--leave", names, present)
        present.discard(name)
        events.append(Event(LEAVES, name))
    if given is None:
        arriving = (item.name for item in problem.applications)
        gone = {*there, *leave}
        events += [Event(ARRIVES, name) for name in arriving if name not in gone]
    for number, text in enumerate(given or ()):
        event = _event(text, names)
        mistakes += _mistakes_of(event, f"--events[{number}]", names, present)
        present = present | {event.application} if event.kind == ARRIVES else present - {event.application}
        events.append(event)
    if mistakes:
        raise BadInput(mistakes)
    return events


def _event(text: str, names: Collection[str]) -> Event:
    """`-name` leaves, unless an application has just this name."""
    if text.startswith("-") and text not in names:
        return Event(LEAVES, text[1:])
    return Event(ARRIVES, text)


def _mistakes_of(event: Event, field: str, names: Collection[str], present: Collection[str]) -> Iterator[str]:
    name = event.application
    if name not in names:
        yield f"{field}: no application {did_you_mean(name, sorted(names))}"
    elif event.kind == LEAVES and name not in present:
        yield f"{field}: {name} leaves, but is not there; it has to arrive before, or be in --previous"
    elif event.kind == ARRIVES and name in present:
        yield f"{field}: {name} arrives, but is there already; '-{name}' before it lets it leave first"
