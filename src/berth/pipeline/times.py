"""Times in telemetry: ISO 8601 or epoch milliseconds."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

_CLOCK = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)?"
_ZONE = r"(Z|[+-][0-9]{2}(:?[0-9]{2})?)?"
_ISO = rf"^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([T ]{_CLOCK}{_ZONE})?$"
_NUMBER = r"^[0-9]+([.][0-9]*)?([eE][+]?[0-9]+)?$"
_BASIC = "yyyyMMdd'T'HHmmss[.SSS][XXX][XX][X]"


def time_from_text(text: Column) -> Column:
    """Epoch milliseconds from a number or ISO 8601; without a zone it is UTC. Null: it is neither."""
    # Spark itself takes much more for a time, such as a time of day for one of today
    return F.coalesce(
        text.try_cast("bigint"),
        F.when(
            text.rlike(_ISO), F.unix_millis(F.replace(text, F.lit(","), F.lit(".")).try_cast("timestamp"))
        ),
        F.when(text.rlike(_NUMBER), text.try_cast("double").try_cast("bigint")),
        F.unix_millis(F.try_to_timestamp(text, F.lit(_BASIC))),
    )
