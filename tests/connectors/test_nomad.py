"""Jobs: as Nomad takes them, and what is wrong with them in a line each."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berth.connectors import JobOptions, Request, System, exported, load_any
from berth.files import problem_from
from berth.model import BadInput, Download, Plan, Problem

DOCUMENT: dict[str, Any] = {
    "format": "berth/v1",
    "name": "words",
    "network": {"nodes": [{"name": "rome"}, {"name": "paris"}], "links": []},
    "applications": [
        {
            "name": "words",
            "containers": {"count": 3, "capacity": {"cpu": 2.5, "memory": 3.0e9, "disk": 1e6, "gpu": 1}},
            "operators": [
                {"name": "lines", "demand": {"cpu": 0.5, "memory": 1e6, "disk": 1e6}, "parallelism": 2},
                {"name": "count"},
            ],
        }
    ],
}
PLAN = Plan(
    assignment={"words/lines#0": "rome", "words/lines#1": "paris", "words/count": "paris"},
    containers={"words/lines#0": "words/c0", "words/lines#1": "words/c2", "words/count": "words/c2"},
)
NOMAD = Request((System.NOMAD,))

# What Nomad's api package has for a job in JSON, as far as it is used here, and which fields must be there.
CONSTRAINT = {"LTarget": str, "RTarget": str, "Operand": str}
RESOURCES = {"CPU": int, "Cores": int, "MemoryMB": int, "MemoryMaxMB": int, "DiskMB": int}
TASK = {"Name": str, "Driver": str, "Config": dict, "Meta": dict, "Env": dict, "Resources": RESOURCES}
GROUP = {
    "Name": str,
    "Count": int,
    "Constraints": [CONSTRAINT],
    "Meta": dict,
    "Tasks": [TASK],
    "EphemeralDisk": {"SizeMB": int, "Sticky": bool, "Migrate": bool},
}
JOB = {"ID": str, "Name": str, "Type": str, "Datacenters": [str], "Meta": dict, "TaskGroups": [GROUP]}


def fits(value: Any, shape: Any) -> bool:
    """Whether a value has only fields of the shape, each of the right kind."""
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(
            key in shape and fits(item, shape[key]) for key, item in value.items()
        )
    if isinstance(shape, list):
        return isinstance(value, list) and all(fits(item, shape[0]) for item in value)
    return type(value) is shape


def refused_by_nomad(job: dict[str, Any]) -> list[str]:
    """The rules of Job, TaskGroup, Task and Resources in nomad/structs that could apply."""
    wrong = [] if job["ID"] and " " not in job["ID"] and job["Name"] else ["job"]
    wrong += [] if job["Type"] in ("service", "batch", "system", "sysbatch") else ["type"]
    wrong += [] if job["Datacenters"] and job["TaskGroups"] else ["missing"]
    groups = job["TaskGroups"]
    wrong += [] if len({group["Name"] for group in groups}) == len(groups) else ["groups"]
    for group in groups:
        names = [task["Name"] for task in group["Tasks"]]
        wrong += [] if names and len(set(names)) == len(names) else ["tasks"]
        wrong += [name for name in names if not name or set(name) & set("/\\\0")]
        for task in group["Tasks"]:
            resources = task["Resources"]
            wrong += [] if task["Driver"] else ["driver"]
            wrong += ["cpu and cores"] if "CPU" in resources and "Cores" in resources else []
            wrong += ["cpu"] if resources.get("CPU", 1) < 1 or resources.get("Cores", 1) < 1 else []
            wrong += ["memory"] if resources.get("MemoryMB", 300) < 10 else []
            wrong += ["disk"] if resources.get("DiskMB", 0) > 0 else []
        texts = [
            *group["Meta"].values(),
            *(v for task in group["Tasks"] for v in task.get("Meta", {}).values()),
        ]
        wrong += ["meta"] if not all(isinstance(text, str) for text in texts) else []
    return wrong


def problem(containers: bool = True) -> Problem:
    document = json.loads(json.dumps(DOCUMENT))
    if not containers:
        del document["applications"][0]["containers"]
    return problem_from(document)


def job_of(plan: Plan = PLAN, containers: bool = True, **options: Any) -> dict[str, Any]:
    request = replace(NOMAD, job_options=JobOptions(**options))
    (written,) = exported(problem(containers), plan, request).values()
    job = json.loads(written.text)["Job"]
    assert fits(job, JOB)
    assert refused_by_nomad(job) == []
    return job


def test_containers() -> None:
    """Each container is a group of one task with the whole capacity, on its server."""
    first, second = job_of()["TaskGroups"]
    assert first["Constraints"] == [{"LTarget": "${node.unique.name}", "RTarget": "rome", "Operand": "="}]
    assert second["Constraints"][0]["RTarget"] == "paris"
    assert first["Meta"] == {"berth_instances": "words/lines#0", "berth_container": "words/c0"}
    assert second["Meta"]["berth_instances"] == "words/lines#1 words/count"
    assert [task["Resources"] for task in second["Tasks"]] == [{"Cores": 3, "MemoryMB": 2862}]
    assert second["EphemeralDisk"] == {"SizeMB": 1}


def test_without_containers() -> None:
    """Each server has a group with a task for each instance, which has the operator's demand."""
    first, second = job_of(replace(PLAN, containers={}), containers=False)["TaskGroups"]
    assert (first["Name"], second["Name"]) == ("rome", "paris")
    assert [task["Name"] for task in second["Tasks"]] == ["lines_1", "count"]
    assert [task["Resources"] for task in second["Tasks"]] == [{"Cores": 1, "MemoryMB": 10}, {}]
    assert [task["Meta"]["berth_instance"] for task in second["Tasks"]] == ["words/lines#1", "words/count"]


def test_options() -> None:
    """Driver, command, image, datacenters, MHz and the attribute of servers are the user's."""
    job = job_of(
        driver="raw_exec", command="go", datacenters=("dc1",), node_attribute="meta.host", mhz_per_core=1000
    )
    assert job["Datacenters"] == ["dc1"]
    (task,) = job["TaskGroups"][0]["Tasks"]
    assert (task["Driver"], task["Config"]) == ("raw_exec", {"command": "/bin/sh", "args": ["-c", "go"]})
    assert task["Resources"]["CPU"] == 2500
    assert job["TaskGroups"][0]["Constraints"][0]["LTarget"] == "${meta.host}"
    (task,) = job_of(image="own:1")["TaskGroups"][0]["Tasks"]
    assert (task["Driver"], task["Config"]) == ("docker", {"image": "own:1"})


def test_warnings() -> None:
    """What Nomad has no place for, what is rounded, and what has no server."""
    (written,) = exported(problem(), replace(PLAN, assignment={}), NOMAD).values()
    assert written.warnings == (
        "words: Nomad has no place for the resource 'gpu': left out",
        "words: cpu 2.5: rounded up to whole cores; or count MHz (--mhz-per-core)",
        "words: 3 instances have no server: Nomad chooses it",
    )


def test_failovers_have_no_place() -> None:
    """That they are left out is told, by application."""
    failover = {"rome": {"words/count": "paris"}, "paris": {"other/x": "rome"}}
    (written,) = exported(problem(), replace(PLAN, failover=failover), NOMAD).values()
    assert written.warnings[-1] == "nomad words: the failover (after the loss of rome) has no place in it"


def test_broken_plans() -> None:
    """A container on two servers is two groups; an instance without container or server keeps what it has."""
    broken = Plan(
        assignment={"words/lines#0": "rome", "words/lines#1": "paris"},
        containers={"words/lines#0": "words/c1", "words/lines#1": "words/c1"},
    )
    groups = job_of(broken)["TaskGroups"]
    assert [group["Name"] for group in groups] == ["anywhere", "c1-rome", "c1-paris"]
    assert groups[0]["Constraints"] == []
    with pytest.raises(BadInput, match=r"containers.words/count: no container named 'c1' \(words has 3\)"):
        job_of(Plan(containers={"words/count": "c1"}))


def read(*documents: Any, folder: Path, containers: bool = True) -> Plan:
    files = [folder / f"{number}.json" for number in range(len(documents))]
    for file, document in zip(files, documents, strict=True):
        file.write_text(json.dumps(document))
    return load_any(problem(containers), files).plan


def test_what_the_api_answers(tmp_path: Path) -> None:
    """A job as Nomad gives it back, without the envelope and with nulls, is read alike."""
    job = job_of()
    for group in job["TaskGroups"]:
        group |= {"Services": None, "Volumes": None}
        group["Constraints"].insert(0, {"LTarget": "${attr.kernel.name}", "RTarget": "linux", "Operand": "="})
    back = read(job, folder=tmp_path)
    assert (back.assignment, back.containers) == (PLAN.assignment, PLAN.containers)


def test_what_else_a_plan_says(tmp_path: Path) -> None:
    """Reuse, skips and downloads are kept; each job has all of them, and they count once."""
    plan = replace(PLAN, reuse={"a/b": "a/c"}, skipped=("a/d",), downloads=(Download("o", "rome", "paris"),))
    back = read({"Job": job_of(plan)}, folder=tmp_path)
    assert (back.reuse, back.skipped, back.downloads) == (plan.reuse, plan.skipped, plan.downloads)


def heron_jobs() -> list[dict[str, Any]]:
    """Jobs as Heron's scheduler makes them, one for each container, bound to servers by hand."""
    return [
        {
            "ID": f"words-{index}",
            "Name": f"words-{index}",
            "Datacenters": ["dc1"],
            "Meta": {"topology.name": "words", "topology.id": "words1", "container.index": str(index)},
            "TaskGroups": [
                {
                    "Name": f"words-{index}",
                    "Count": 1,
                    "Constraints": [{"LTarget": "${node.unique.name}", "RTarget": node}],
                    "Tasks": [],
                }
            ],
        }
        for index, node in ((0, "rome"), (1, "rome"), (3, "paris"))
    ]


def packing_plan() -> dict[str, Any]:
    (written,) = exported(problem(), PLAN, Request((System.HERON,))).values()
    return written.document


def test_jobs_of_heron(tmp_path: Path) -> None:
    """With the packing plan, Heron's own jobs are the whole plan; without it nobody knows what is in them."""
    back = read(*heron_jobs(), packing_plan(), folder=tmp_path)
    assert (back.assignment, back.containers) == (PLAN.assignment, PLAN.containers)
    with pytest.raises(BadInput) as error:
        read(*heron_jobs(), folder=tmp_path)
    lost = "TaskGroups[0]: no packing plan says what is in container words/c"
    assert error.value.mistakes == tuple(f"{tmp_path}/{file}.json: {lost}{k}" for file, k in ((1, 0), (2, 2)))


def test_files_that_contradict_each_other(tmp_path: Path) -> None:
    """An instance in two containers is a mistake."""
    packed = packing_plan()
    packed["container_plans"][0]["id"] = 2
    with pytest.raises(BadInput) as error:
        read(packed, {"Job": job_of()}, folder=tmp_path)
    path = f"{tmp_path}/1.json: Job.TaskGroups[0]"
    line = f"{path}: words/lines#0 is in words/c0, but in words/c1 in the packing plan"
    assert error.value.mistakes == (line,)


GROUP_PATH = "Job.TaskGroups[0]"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            lambda job: job["TaskGroups"][0]["Constraints"][0].update(RTarget="rom"),
            f"{GROUP_PATH}.Constraints[0].RTarget: no node named 'rom'; did you mean 'rome'?",
        ),
        (
            lambda job: job["TaskGroups"][0]["Constraints"].append(job["TaskGroups"][1]["Constraints"][0]),
            f"{GROUP_PATH}.Constraints[1].RTarget: paris, but rome before: expected one server",
        ),
        (
            lambda job: job["TaskGroups"][0]["Meta"].update(berth_instances="words/lines#9"),
            f"{GROUP_PATH}.Meta.berth_instances: no instance named 'words/lines#9'; "
            "did you mean 'words/lines#1'?",
        ),
        (
            lambda job: job["TaskGroups"][0]["Meta"].update(berth_instances="words/lines#1"),
            f"Job.TaskGroups[1]: words/lines#1 is there twice; first in {GROUP_PATH}",
        ),
        (
            lambda job: job["TaskGroups"][0]["Meta"].update(berth_container="words/c3"),
            f"{GROUP_PATH}.Meta.berth_container: no container named 'words/c3' (words has 3)",
        ),
        (
            lambda job: job["TaskGroups"][0]["Meta"].update(berth_container="x/c0"),
            f"{GROUP_PATH}.Meta.berth_container: no application named 'x'",
        ),
        (
            lambda job: job["TaskGroups"][0].pop("Meta"),
            f"{GROUP_PATH}.Meta.berth_instances: is needed: which instances are these?",
        ),
        (lambda job: job["TaskGroups"][0].update(Count=2), f"{GROUP_PATH}.Count: expected 1, found 2"),
        (
            lambda job: job["TaskGroups"][0].update(Meta=3),
            f"{GROUP_PATH}.Meta: expected a mapping or null, found 3",
        ),
        (lambda job: job.update(TaskGroups="x"), "Job.TaskGroups: expected a list, found 'x'"),
        (lambda job: job.pop("TaskGroups"), "Job.TaskGroups: is needed"),
        (lambda job: job["Meta"].update(berth_plan="{"), "Job.Meta.berth_plan: not valid JSON of a mapping"),
        (
            lambda job: job["Meta"].update(berth_plan="[1]"),
            "Job.Meta.berth_plan: not valid JSON of a mapping",
        ),
        (
            lambda job: job["Meta"].update(berth_plan='{"reuse": 1}'),
            "Job.Meta.berth_plan.reuse: expected a mapping, found 1",
        ),
    ],
)
def test_mistakes(change: Callable[[dict[str, Any]], Any], line: str, tmp_path: Path) -> None:
    """One line, with the field's path."""
    job = job_of()
    change(job)
    with pytest.raises(BadInput) as error:
        read({"Job": job}, folder=tmp_path)
    assert error.value.mistakes == (f"{tmp_path}/0.json:1: {line}",)


@pytest.mark.parametrize("index", ["4", "-1", "x", "", "１"])
def test_containers_of_heron_that_are_not_there(index: str, tmp_path: Path) -> None:
    """A container's number beyond the problem's is a mistake."""
    job = heron_jobs()[1]
    job["Meta"]["container.index"] = index
    with pytest.raises(BadInput) as error:
        read(job, folder=tmp_path)
    line = f"Meta.container.index: no container {index!r} (words has 1 to 3)"
    assert error.value.mistakes == (f"{tmp_path}/0.json:1: {line}",)


def test_files_of_no_format(tmp_path: Path) -> None:
    """Beside a job, what is neither a job nor a packing plan is a mistake; so is an empty folder."""
    with pytest.raises(BadInput) as error:
        read({"Job": job_of()}, {"assignment": {}}, [1], folder=tmp_path)
    unknown = "neither a packing plan of Heron's nor a job of Nomad's; a plan of berth's stands alone"
    assert error.value.mistakes == tuple(f"{tmp_path}/{file}.json: {unknown}" for file in (1, 2))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"empty: no \*.json in this folder"):
        load_any(problem(), [tmp_path / "empty"])
