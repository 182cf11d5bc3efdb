"""The manifests of deploy/kuberay: what KubeRay, Kubernetes, Ray's autoscaler and our own command read from them. Requires
requirements-ray.txt.
"""

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from repository import ROOT
from whetstone_worker.cli import _parser
from whetstone_worker.cluster.options import read_spec

jsonschema = pytest.importorskip("jsonschema", reason="needs the packages of requirements-ray.txt")
kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="needs the packages of requirements-ray.txt")
yaml = pytest.importorskip("yaml", reason="needs the packages of requirements-ray.txt")

DIRECTORY = ROOT / "deploy" / "kuberay"
SCHEMA = json.loads((DIRECTORY / "schema.json").read_text())
KUBERNETES = "1.34"
CLUSTERS = sorted(DIRECTORY.glob("ray-cluster-*.yaml"))
JOBS = sorted(DIRECTORY.glob("ray-job-*.yaml"))


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def templates(cluster: Any) -> dict[str, Any]:
    groups = {group["groupName"]: group["template"] for group in cluster["spec"]["workerGroupSpecs"]}
    return {"head": cluster["spec"]["headGroupSpec"]["template"], **groups}


def as_pod(template: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, **template}


@pytest.mark.parametrize("path", [*CLUSTERS, *JOBS], ids=lambda path: path.name)
def test_kuberay_accepts_the_manifest(path: Path) -> None:
    jsonschema.validate(read(path), SCHEMA)


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: path.name)
def test_kubernetes_accepts_its_pods(path: Path) -> None:
    for template in templates(read(path)).values():
        kubernetes_validate.validate(as_pod(template), KUBERNETES, strict=True)


def test_kubernetes_accepts_the_secret_which_has_the_keys_that_the_pods_use() -> None:
    secret = read(DIRECTORY / "worker-secret.yaml")
    kubernetes_validate.validate(secret, KUBERNETES, strict=True)
    for path in CLUSTERS:
        asked = [
            variable["valueFrom"]["secretKeyRef"]
            for template in templates(read(path)).values()
            for container in template["spec"]["containers"]
            for variable in container.get("env", [])
            if "valueFrom" in variable
        ]
        needed = {(each["name"], each["key"]) for each in asked if not each.get("optional")}
        assert needed == {(secret["metadata"]["name"], key) for key in secret["stringData"]}


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: path.name)
def test_rays_autoscaler_reads_the_resources_that_workers_need(path: Path) -> None:
    config = pytest.importorskip("ray.autoscaler._private.kuberay.autoscaling_config")
    cluster = read(path)
    cluster["metadata"]["namespace"] = "default"
    kinds = config._derive_autoscaling_config_from_ray_cr(cluster)["available_node_types"]
    gpu = "gpu" in path.name
    assert kinds["headgroup"]["resources"]["CPU"] == 0
    assert kinds["gpu" if gpu else "cpu"]["resources"].get("GPU", 0) == (1 if gpu else 0)


@pytest.mark.parametrize("path", JOBS, ids=lambda path: path.name)
def test_our_command_accepts_the_entrypoint_and_the_cluster_has_room_for_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHETSTONE_URL", "http://server:8484")
    monkeypatch.setenv("WHETSTONE_API_KEY", "wk")
    program, *arguments = shlex.split(read(path)["spec"]["entrypoint"])
    assert program == "whetstone-worker"
    parser = _parser()
    given = parser.parse_args(arguments)
    spec = read_spec(given, parser)
    assert read(path)["spec"]["activeDeadlineSeconds"] > given.wait
    cluster = read(DIRECTORY / path.name.replace("job", "cluster"))
    (group,) = cluster["spec"]["workerGroupSpecs"]
    limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
    resource, rooms = ("nvidia.com/gpu", "gpus") if "gpu" in path.name else ("cpu", "cpus")
    of_one = {role: getattr(worker, rooms) * worker.ranks for role, worker in spec.workers.items()}
    asked = spec.samplers.most * of_one["sampler"] + spec.trainers * of_one["trainer"]
    assert asked <= int(limits[resource]) * group["maxReplicas"]


@pytest.mark.parametrize(
    "break_it",
    [
        lambda spec: spec.pop("rayVersion"),  # required for the token
        lambda spec: spec.update(workerGroupSpec=[]),
        lambda spec: spec["workerGroupSpecs"][0].pop("minReplicas"),
        lambda spec: spec["headGroupSpec"]["rayStartParams"].update({"num-cpus": 0}),  # KubeRay requires a string
        lambda spec: spec["autoscalerOptions"].update(version=2),
    ],
)
def test_the_schema_finds_what_kuberay_refuses(break_it: Any) -> None:
    cluster = read(CLUSTERS[0])
    break_it(cluster["spec"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(cluster, SCHEMA)
