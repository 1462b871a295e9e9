"""Reading and writing problem and plan files, the schemas, and good error messages."""

from berth.files.document import check_writable, document_from, read_bytes, write_bytes, write_text
from berth.files.plan_file import load_plan, plan_document, plan_from, plan_text, save_plan
from berth.files.problem_file import load, problem_from, problem_on
from berth.files.schema import PLAN_SCHEMA, PROBLEM_SCHEMA

__all__ = [
    "PLAN_SCHEMA",
    "PROBLEM_SCHEMA",
    "check_writable",
    "document_from",
    "load",
    "load_plan",
    "plan_document",
    "plan_from",
    "plan_text",
    "problem_from",
    "problem_on",
    "read_bytes",
    "save_plan",
    "write_bytes",
    "write_text",
]
