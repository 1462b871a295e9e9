"""Plain lines: the folder's fields in their order, nothing else, and no value that could be read two ways.

One regular expression tells them, and the pieces between their quotation marks are the values. That costs
half of what a JSON parser does. What is not plain is neither good nor bad: the parser reads it.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from berth.pipeline.feed import SPARK_TYPES, Field, Folder, Kind

_TEXT = r'"[^"\\\x00-\x1f]*"'
_WHOLE = r"(?:0|[1-9][0-9]{0,14})"
_FORMS: dict[Kind, str] = {
    "time": f"(?:{_WHOLE}|{_TEXT})",
    "name": _TEXT,
    # signs and exponents are left to the parser: they are rare, and each costs something in every line
    "number": rf"{_WHOLE}(?:\.[0-9]{{1,20}})?",
    "flag": "(?:true|false)",
}


def plain_form(folder: Folder) -> str:
    """The regular expression of a folder's plain lines, as compact as Spark writes them or with spaces."""
    fields = (f'"{field.name}": ?{_FORMS[field.kind]}' for field in folder.fields)
    # $ would also match before a line separator that is no end of a line here
    return rf"^\{{{', ?'.join(fields)}\}}\z"


def plain_pieces(line: Column, folder: Folder) -> Column:
    """What stands between the quotation marks of a plain line; null if the line is not plain."""
    return F.when(line.rlike(plain_form(folder)), F.split(line, '"'))


def plain_values(pieces: Column, folder: Folder) -> dict[str, Column]:
    """The values of a plain line by field, times as text; null if there are no pieces."""
    values = {}
    # from the end, because only the time, which comes first, may have quotation marks or not
    place = -1
    for field in reversed(folder.fields):
        quoted = F.try_element_at(pieces, F.lit(place - 1))
        bare = _bare(F.try_element_at(pieces, F.lit(place)))
        if field.kind == "name":
            values[field.name] = quoted
        elif field.kind == "time":
            values[field.name] = F.when(F.size(pieces) == 2 - place, bare).otherwise(quoted)
        else:
            values[field.name] = bare.try_cast(SPARK_TYPES[field.kind])
        place -= _pieces_of(field)
    return values


def _pieces_of(field: Field) -> int:
    """A name's key, the colon, the name, and what is behind it; otherwise the key and what is behind it."""
    return 4 if field.kind == "name" else 2


def _bare(piece: Column) -> Column:
    """The value in a piece such as `:20.5, ` or `: true}`."""
    piece = F.rtrim(piece)
    return F.ltrim(F.substr(piece, F.lit(2), F.octet_length(piece) - 2))
