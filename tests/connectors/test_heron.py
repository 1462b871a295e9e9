"""Packing plans: as Heron's protobuf has them, and what is wrong with them in a line each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

from berth.connectors import Request, System, evaluate_packing, exported, load_any
from berth.files import problem_from
from berth.model import BadInput, Plan, Problem

DOCUMENT: dict[str, Any] = {
    "format": "berth/v1",
    "name": "words",
    "network": {"nodes": [{"name": "rome", "capacity": {"cpu": 9}}], "links": []},
    "applications": [
        {
            "name": "words",
            "containers": {"count": 3, "capacity": {"cpu": 2.5, "ram": 3.0e9, "disk": 1, "gpu": 1}},
            "operators": [
                {"name": "lines", "demand": {"cpu": 1, "memory": 2.0e9, "disk": 0.5}, "parallelism": 2},
                {"name": "count", "demand": {"cpu": 3, "licence": 1}},
            ],
            "streams": [{"from": "lines", "to": "count", "bytes_per_s": 10}],
        }
    ],
}
PACKING = {"words/lines#0": "words/c0", "words/lines#1": "words/c2", "words/count": "words/c2"}
HERON = Request((System.HERON,))


def problem(change: Callable[[dict[str, Any]], Any] = lambda document: None) -> Problem:
    document = json.loads(json.dumps(DOCUMENT))
    change(document["applications"][0])
    return problem_from(document)


def packing_plan(request: Request = HERON) -> dict[str, Any]:
    (written,) = exported(problem(), Plan(containers=PACKING), request).values()
    return json.loads(written.text)


def heron_message() -> Any:
    """The messages of heron/proto/packing_plan.proto, field by field with their numbers."""
    file = descriptor_pb2.FileDescriptorProto(name="packing_plan.proto", package="heron.proto.system")
    kinds = descriptor_pb2.FieldDescriptorProto
    scalars = {"string": kinds.TYPE_STRING, "int32": kinds.TYPE_INT32, "int64": kinds.TYPE_INT64}
    scalars["double"] = kinds.TYPE_DOUBLE
    labels = {"required": kinds.LABEL_REQUIRED, "optional": kinds.LABEL_OPTIONAL}
    labels["repeated"] = kinds.LABEL_REPEATED
    definitions = {
        "Resource": ["required double cpu", "required int64 ram", "required int64 disk"],
        "InstancePlan": [
            "required string component_name",
            "required int32 task_id",
            "required int32 component_index",
            "required Resource resource",
        ],
        "ContainerPlan": [
            "required int32 id",
            "repeated InstancePlan instance_plans",
            "required Resource requiredResource",
            "optional Resource scheduledResource",
        ],
        "PackingPlan": ["required string id", "repeated ContainerPlan container_plans"],
    }
    for name, fields in definitions.items():
        message = file.message_type.add(name=name)
        for number, (label, kind, field) in enumerate((line.split() for line in fields), start=1):
            entry = message.field.add(name=field, number=number, label=labels[label])
            entry.type = scalars.get(kind, kinds.TYPE_MESSAGE)
            if kind not in scalars:
                entry.type_name = f".heron.proto.system.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("heron.proto.system.PackingPlan"))()


def test_as_protobuf_reads_it() -> None:
    """The file is a whole message of Heron's, and says what the plan says in Heron's units and counting."""
    message = json_format.ParseDict(packing_plan(), heron_message())
    assert message.IsInitialized()
    assert message.id == "words"
    assert [container.id for container in message.container_plans] == [1, 3]
    instances = [
        (container.id, item.component_name, item.task_id, item.component_index)
        for container in message.container_plans
        for item in container.instance_plans
    ]
    assert instances == [(1, "lines", 1, 0), (3, "lines", 2, 1), (3, "count", 3, 0)]
    first = message.container_plans[0]
    resource = first.instance_plans[0].resource
    assert (resource.cpu, resource.ram, resource.disk) == (1.0, 2_000_000_000, 1)
    assert (first.requiredResource.cpu, first.requiredResource.ram) == (2.5, 3_000_000_000)
    assert json_format.MessageToDict(message, preserving_proto_field_name=True) == packing_plan()


def test_units() -> None:
    """Memory and disk in the problem's unit become bytes."""
    (written,) = exported(problem(), Plan(containers=PACKING), Request((System.HERON,), unit="KiB")).values()
    resource = written.document["container_plans"][0]["instance_plans"][0]["resource"]
    assert resource == {"cpu": 1.0, "ram": str(2_000_000_000 * 1024), "disk": "512"}


def test_warnings() -> None:
    """What Heron has no place for is told, once each."""
    (written,) = exported(problem(), Plan(containers={"words/count": "words/c0"}), HERON).values()
    assert written.warnings == (
        "words: Heron has no place for the resource 'gpu': left out",
        "words: Heron has no place for the resource 'licence': left out",
        "instance words/lines#0: in no container: left out",
        "instance words/lines#1: in no container: left out",
    )


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (
            lambda application: application.pop("containers"),
            "applications[0].containers: is needed: Heron packs instances into containers (Nomad needs none)",
        ),
        (
            lambda application: application["containers"]["capacity"].update(memory=1),
            "applications[0].containers.capacity: 'memory' and 'ram' are the same to other systems; keep one",
        ),
        (
            lambda application: application["operators"][0]["demand"].update(memory=1e30),
            "applications[0].operators[0].demand.memory: 1e+30 bytes are more than other systems can count",
        ),
        (
            lambda application: application["containers"].update(count=2),
            "containers.words/lines#1: no container named 'words/c2' (words has 2)",
        ),
    ],
)
def test_what_heron_can_not_hold(change: Callable[[dict[str, Any]], Any], line: str) -> None:
    """A line that says what it is."""
    with pytest.raises(BadInput) as error:
        exported(problem(change), Plan(containers=PACKING), HERON)
    assert error.value.mistakes[0] == line


def tracker_form(plan: dict[str, Any]) -> dict[str, Any]:
    """As extract_packing_plan of Heron's tracker makes it, within the tracker's answer."""
    containers = [
        {
            "id": container["id"],
            "instances": [
                {
                    "component_name": item["component_name"],
                    "task_id": item["task_id"],
                    "component_index": item["component_index"],
                    "instance_resources": {"cpu": 1.0, "ram": 1, "disk": 1},
                }
                for item in container["instance_plans"]
            ],
            "required_resources": {"cpu": 1.0, "ram": 1, "disk": 1},
            "scheduled_resources": {},
        }
        for container in plan["container_plans"]
    ]
    return {"status": "success", "result": {"id": plan["id"], "container_plans": containers}}


def dry_run_form(plan: dict[str, Any]) -> dict[str, Any]:
    """As JsonFormatterUtils of Heron's dry runs makes it."""
    containers = [
        {
            "id": container["id"],
            "resources": {"cpu": 1.0, "ram": 1, "disk": 1},
            "components": [
                {"component": item["component_name"], "id": item["task_id"], "index": item["component_index"]}
                for item in container["instance_plans"]
            ],
        }
        for container in plan["container_plans"]
    ]
    return {"packingClass": "Any", "topology": plan["id"], "containers": containers}


def camel_case_form(plan: dict[str, Any]) -> dict[str, Any]:
    """As protobuf writes JSON unless told otherwise."""
    return json_format.MessageToDict(json_format.ParseDict(plan, heron_message()))


def with_random_end(plan: dict[str, Any]) -> dict[str, Any]:
    """With the id that Heron gives to a topology when it is submitted, and numbers as strings."""
    plan["id"] += "0c1eb5d5-52b3-4b5a-9f4e-2a3f5a1c7b11"
    for container in plan["container_plans"]:
        container["id"] = str(container["id"])
    return plan


@pytest.mark.parametrize("form", [tracker_form, dry_run_form, camel_case_form, with_random_end])
def test_forms(form: Callable[[dict[str, Any]], dict[str, Any]], tmp_path: Path) -> None:
    """All forms that Heron shows are read alike."""
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(form(packing_plan())))
    loaded = load_any(problem(), [file])
    assert not loaded.has_servers
    assert loaded.plan.containers == PACKING
    assert evaluate_packing(problem(), loaded.plan).metrics == {
        "containers_used": 2.0,
        "container_traffic_bytes_per_s": 5.0,
    }


def spoilt(path: str, value: Any) -> dict[str, Any]:
    """The plan with one field changed; the value None: without it."""
    plan: Any = packing_plan()
    place, *keys = plan, *path.replace("[", ".[").split(".")
    steps = [int(key[1:-1]) if key.startswith("[") else key for key in keys]
    for step in steps[:-1]:
        place = place[step]
    if value is None:
        del place[steps[-1]]
    else:
        place[steps[-1]] = value
    return plan


INSTANCE = "container_plans[0].instance_plans[0]"


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("id", "wrods", "id: no application named 'wrods'; did you mean 'words'?"),
        ("id", None, "id: is needed"),
        ("id", 5, "id: expected a string, found 5"),
        ("container_plans", {}, "container_plans: expected a list, found a mapping"),
        ("container_plans[0].id", 0, "container_plans[0].id: no container 0 (words has 1 to 3)"),
        ("container_plans[0].id", 4, "container_plans[0].id: no container 4 (words has 1 to 3)"),
        ("container_plans[0].id", "x", "container_plans[0].id: expected a whole number, found 'x'"),
        (
            "container_plans[0].id",
            True,
            "container_plans[0].id: expected a whole number or a string, found true",
        ),
        ("container_plans[0].id", None, "container_plans[0].id: is needed"),
        (
            f"{INSTANCE}.component_name",
            "line",
            f"{INSTANCE}.component_name: no operator named 'line'; did you mean 'lines'?",
        ),
        (f"{INSTANCE}.component_index", 2, f"{INSTANCE}.component_index: no instance 2 (lines has 0 to 1)"),
        (f"{INSTANCE}.component_index", -1, f"{INSTANCE}.component_index: no instance -1 (lines has 0 to 1)"),
        (f"{INSTANCE}.component_index", None, f"{INSTANCE}.component_index: is needed"),
        (
            f"{INSTANCE}.component_index",
            1,
            f"container_plans[1].instance_plans[0]: words/lines#1 is there twice; first in {INSTANCE}",
        ),
        (INSTANCE, "garbage", f"{INSTANCE}: expected a mapping, found 'garbage'"),
        ("container_plans[0].instance_plans", None, "container_plans[0].instance_plans: is needed"),
    ],
)
def test_mistakes(path: str, value: Any, line: str, tmp_path: Path) -> None:
    """One line, with the field's path."""
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(spoilt(path, value)))
    with pytest.raises(BadInput) as error:
        load_any(problem(), [file])
    assert error.value.mistakes == (f"{file}:1: {line}",)


def test_application_without_containers(tmp_path: Path) -> None:
    """A packing plan says nothing about an application that isn't packed."""
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(packing_plan()))
    with pytest.raises(BadInput, match="id: application 'words' has no containers in the problem"):
        load_any(problem(lambda application: application.pop("containers")), [file])
