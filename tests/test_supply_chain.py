"""What goes into a build and a release is pinned, and what is published can be made again."""

import importlib.util
import re
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

HERE = Path(__file__).parents[1]
LOCKS = ["requirements.lock", "release/requirements.lock"]


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"release_{name}", HERE / "release" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def locked(lock: str) -> dict[str, set[str]]:
    """The pinned versions of every package."""
    pins = re.findall(r"^([\w.-]+)==([^\s;]+)", (HERE / lock).read_text(), re.MULTILINE)
    return {name: {version for other, version in pins if other == name} for name, _ in pins}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_is_pinned_with_hashes(lock: str) -> None:
    entries = re.split(r"\n(?=[^\s#])", (HERE / lock).read_text().partition("\n\n")[0])
    entries = [entry for entry in entries if not entry.startswith("#")]
    assert len(entries) > 30
    for entry in entries:
        assert re.match(r"[\w.-]+==[\w.]+ ", entry), entry.splitlines()[0]
        assert "--hash=sha256:" in entry


def test_builds_in_isolation_use_the_locked_tools() -> None:
    """`pip install` from the sources takes the tools that `make` takes."""
    required = tomllib.loads((HERE / "pyproject.toml").read_text())["build-system"]["requires"]
    pins = [re.fullmatch(r"([\w-]+)==([\w.]+)(; .*)?", each) for each in required]
    assert all(pins)
    versions = locked("requirements.lock")
    for name in {pin[1] for pin in pins if pin}:
        assert {pin[2] for pin in pins if pin and pin[1] == name} == versions[name]


def test_the_bill_of_materials_has_what_berth_needs_only() -> None:
    """Spark brings Py4J along; hypothesis, which some packages offer an extra for, is for the tests."""
    packages = loaded("sbom").packages_for("berth")
    assert {"berth", "numpy", "pyspark", "py4j", "fastapi", "starlette"} <= packages
    assert not {"pytest", "hypothesis", "mypy"} & packages
    names = ["NumPy", "pyspark", "py4j", "pytest"]
    bill = {
        "metadata": {"component": {"bom-ref": "root", "name": "berth", "version": "1"}},
        "components": [{"bom-ref": f"{name}==1", "name": name} for name in names],
        "dependencies": [
            {"ref": "root", "dependsOn": ["NumPy==1", "pyspark==1"]},
            {"ref": "pyspark==1", "dependsOn": ["py4j==1", "pytest==1"]},
            {"ref": "py4j==1"},
            {"ref": "pytest==1", "dependsOn": ["py4j==1"]},
        ],
    }
    kept = loaded("sbom").with_packages(bill, packages)
    assert [each["name"] for each in kept["components"]] == names[:3]
    assert kept["dependencies"] == [
        {"ref": "root", "dependsOn": ["NumPy==1", "pyspark==1"]},
        {"ref": "pyspark==1", "dependsOn": ["py4j==1"]},
        {"ref": "py4j==1", "dependsOn": []},
    ]


def test_wheels_that_differ_are_told_apart(tmp_path: Path) -> None:
    """By content, by time, and by order."""
    differences = loaded("wheel").differences
    files = {"a.py": "1", "b.py": "2"}
    same, again = wheel(tmp_path / "1", files), wheel(tmp_path / "2", files)
    assert differences(same, again) == []
    assert differences(same, wheel(tmp_path / "3", files | {"b.py": "3", "c.py": ""})) == ["b.py", "c.py"]
    assert differences(same, wheel(tmp_path / "4", files, year=2001)) == ["a.py", "b.py"]
    turned = wheel(tmp_path / "5", dict(reversed(files.items())))
    assert differences(same, turned) == ["the archive itself"]


def wheel(file: Path, files: dict[str, str], year: int = 2000) -> Path:
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), content)
    return file


@pytest.mark.long
def test_a_wheel_is_the_same_when_it_is_built_again(tmp_path: Path) -> None:
    build, differences = loaded("wheel").build, loaded("wheel").differences
    assert differences(build(tmp_path / "one"), build(tmp_path / "another")) == []
