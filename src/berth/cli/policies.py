"""`berth policies`."""

from __future__ import annotations

import typer
from rich.markup import escape

from berth.cli.arguments import AsJson
from berth.cli.output import out, print_json
from berth.policies import find_policy, policy_names
from berth.policies.listing import policy_documents
from berth.policies.parameters import described

EPILOG = """Examples:

  berth policies

  berth policies --json
"""


def policies(as_json: AsJson = False) -> None:
    """List every policy: what it optimises, which constraints it holds, and its parameters."""
    if as_json:
        print_json(policy_documents())
        return
    for policy in map(find_policy, policy_names()):
        about = policy.about
        out.print(f"[bold]{escape(about.name)}[/]")
        for label, text in (("paper", about.paper), ("optimises", about.optimises), ("holds", about.holds)):
            out.print(f"  {label:10} {escape(text)}", soft_wrap=True)
        for item in described(policy.parameters):
            line = f"  --set {item['name']}={item['default']}"
            out.print(f"{escape(line):40} [dim]{escape(item['help'])}[/]", soft_wrap=True)
        out.print()


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog=EPILOG)(policies)
