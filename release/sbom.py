"""Writes dist/berth-VERSION.cdx.json: all that an installation of berth brings along, as CycloneDX lists it.

    make sbom

Read from this environment, which has what requirements.lock names. What only we need to test and to build is
left out.
"""

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HERE = Path(__file__).parents[1]


def main() -> int:
    """Ask the tool for everything, keep what berth needs."""
    tool = HERE / ".release" / "bin" / "cyclonedx-py"
    command = [tool, "environment", "--pyproject", HERE / "pyproject.toml", "--output-reproducible"]
    printed = subprocess.run([*command, sys.executable], check=True, capture_output=True).stdout
    bill = with_packages(json.loads(printed), packages_for("berth"))
    about = bill["metadata"]["component"]
    file = HERE / "dist" / f"{about['name']}-{about['version']}.cdx.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(bill, indent=2) + "\n")
    print(f"{file.relative_to(HERE)}: {len(bill['components'])} packages")
    return 0


def packages_for(name: str) -> set[str]:
    """All that a package needs, however indirectly, itself among it; of extras, those that are asked for."""
    needed, ahead = set(), [Requirement(name)]
    while ahead:
        one = ahead.pop()
        for extra in ("", *one.extras):
            step = (canonicalize_name(one.name), extra)
            if step not in needed:
                needed.add(step)
                lines = map(Requirement, importlib.metadata.requires(one.name) or [])
                ahead += [
                    each for each in lines if each.marker is None or each.marker.evaluate({"extra": extra})
                ]
    return {found for found, _ in needed}


def with_packages(bill: dict[str, Any], packages: Collection[str]) -> dict[str, Any]:
    """A bill of materials without all other packages than these."""
    kept = [each for each in bill["components"] if canonicalize_name(each["name"]) in packages]
    references = {each["bom-ref"] for each in (*kept, bill["metadata"]["component"])}
    needs = {each["ref"]: references.intersection(each.get("dependsOn", ())) for each in bill["dependencies"]}
    dependencies = [{"ref": ref, "dependsOn": sorted(needs[ref])} for ref in needs if ref in references]
    return bill | {"components": kept, "dependencies": dependencies}


if __name__ == "__main__":
    sys.exit(main())
