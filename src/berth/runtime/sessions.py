"""Which session a user's function means when it asks Spark for the one there is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession


@contextmanager
def in_session_of(*frames: DataFrame) -> Iterator[None]:
    """`SparkSession.builder.getOrCreate()` and `getActiveSession()` give the session of these rows.

    A batch of a stream has a session of its own, and so have the empty rows from which an operator's shape
    is learnt: a view that a function makes of its rows is found in the session of those rows only.
    """
    if not frames:
        yield
        return
    session: Any = frames[0].sparkSession
    kind: Any = SparkSession
    with _as_before(session):
        kind._instantiatedSession = kind._activeSession = session
        kind._get_j_spark_session_class(session._jvm).setActiveSession(session._jsparkSession)
        yield


@contextmanager
def another_session(session: SparkSession) -> Iterator[SparkSession]:
    """A session of its own for views and rows that must not stay; the one before is the active one again."""
    with _as_before(session):
        yield session.newSession()


@contextmanager
def _as_before(session: Any) -> Iterator[None]:
    """Whatever becomes the session that there is, in Python and in Java: afterwards it is the one before."""
    kind: Any = SparkSession
    java = kind._get_j_spark_session_class(session._jvm)
    before = kind._instantiatedSession, kind._activeSession, java.getActiveSession()
    try:
        yield
    finally:
        kind._instantiatedSession, kind._activeSession, active = before
        if active.isDefined():
            java.setActiveSession(active.get())
        else:
            java.clearActiveSession()
