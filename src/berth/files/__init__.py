"""Reading and writing problem and plan files, their schemas, and good error messages."""

from berth.files.document import check_writable, document_from, read_bytes, write_bytes, write_text
from berth.files.plan_file import PLAN, load_plan, plan_document, plan_from, plan_text, save_plan
from berth.files.problem_file import load, problem_document, problem_from, problem_on
from berth.files.problem_format import PROBLEM

__all__ = [
    "PLAN",
    "PROBLEM",
    "check_writable",
    "document_from",
    "load",
    "load_plan",
    "plan_document",
    "plan_from",
    "plan_text",
    "problem_document",
    "problem_from",
    "problem_on",
    "read_bytes",
    "save_plan",
    "write_bytes",
    "write_text",
]
