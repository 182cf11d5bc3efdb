"""Renders a Helm chart with Helm's own library and validates the result against Kubernetes' schemas. Needs no cluster.

`chart.py CHART KUBERNETES`: stdin is a JSON array of values; stdout, for each, {"lint": [...], "manifests": [...], "invalid": [...]},
or {"error": "..."} if Helm refuses the values.
"""

import json
import sys
from typing import Any

import helm_python
import kubernetes_validate
import yaml


def render(path: str, values: dict[str, Any], kubernetes: str) -> dict[str, Any]:
    report = helm_python.lint(path, values, strict=True, quiet=True, kube_version=f"v{kubernetes}.0")
    with helm_python.Chart.load(path) as chart:
        try:
            chart.validate_schema(values)
            files = chart.render(values, name="release", namespace="apart")
        except helm_python.HelmError as error:
            return {"error": str(error)}
    manifests = [
        manifest for name, text in sorted(files.items()) if not name.endswith(".txt") for manifest in yaml.safe_load_all(text) if manifest
    ]
    return {
        "lint": [*report["messages"], *report["errors"]],
        "manifests": manifests,
        "invalid": [problem for manifest in manifests for problem in problems(manifest, kubernetes)],
    }


def problems(manifest: dict[str, Any], kubernetes: str) -> list[str]:
    if "." in manifest["apiVersion"] and not manifest["apiVersion"].split("/")[0].endswith("k8s.io"):
        return []  # a custom resource of an operator, which Kubernetes' schemas do not cover
    try:
        kubernetes_validate.validate(manifest, kubernetes, strict=True)
    except kubernetes_validate.ValidationError as error:
        return [f"{manifest['kind']} {manifest['metadata']['name']}: {error}"]
    return []


if __name__ == "__main__":
    _, chart, version = sys.argv
    print(json.dumps([render(chart, values, version) for values in json.load(sys.stdin)]))
