"""Builds the wheel of what is committed twice, in folders of different names, and compares byte by byte.

    make wheel

The times in it are those of the commit, so that whoever builds the same commit with the same compiler gets
the same file, and can compare its hash with the one that was published.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parents[1]


def main() -> int:
    """Build, compare, keep."""
    with tempfile.TemporaryDirectory() as folder:
        wheels = [build(Path(folder) / name) for name in ("one", "another/deeper")]
        different = differences(*wheels)
        if different:
            print(f"two builds of {wheels[0].name} differ in: {', '.join(different)}", file=sys.stderr)
            return 1
        kept = HERE / "dist" / wheels[0].name
        kept.parent.mkdir(exist_ok=True)
        shutil.copyfile(wheels[0], kept)
    print(f"{digest(kept.read_bytes())}  {kept.relative_to(HERE)}, the same in both builds")
    return 0


def build(folder: Path) -> Path:
    """The wheel of a copy of what is committed, by the tools of this environment."""
    folder.mkdir(parents=True)
    committed = subprocess.run(["git", "archive", "HEAD"], cwd=HERE, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x", "-C", folder], input=committed, check=True)
    when = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=HERE, check=True, capture_output=True, text=True
    )
    tools = str(Path(sys.executable).parent)
    environment = os.environ | {
        "SOURCE_DATE_EPOCH": when.stdout.strip(),
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
    }
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    command = [*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", "wheels", "."]
    subprocess.run(command, cwd=folder, env=environment, check=True)
    (wheel,) = (folder / "wheels").glob("*.whl")
    return wheel


def differences(one: Path, another: Path) -> list[str]:
    """The members of two wheels that are not the same; the wheels themselves, where only their order is."""
    if one.read_bytes() == another.read_bytes():
        return []
    first, second = members(one), members(another)
    named = [name for name in sorted(first | second) if first.get(name) != second.get(name)]
    return named or ["the archive itself"]


def members(wheel: Path) -> dict[str, str]:
    """What each file of a wheel holds, and how it is stored."""
    with zipfile.ZipFile(wheel) as archive:
        return {
            each.filename: f"{digest(archive.read(each))} {each.date_time} {each.external_attr}"
            for each in archive.infolist()
        }


def digest(content: bytes) -> str:
    """Its SHA-256."""
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
