"""The desired state of a cluster, which `up` creates and the controller keeps."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from whetstone_worker.cluster.scaling import Bounds, Windows
from whetstone_worker.cluster.seats import Role, WorkerSpec


@dataclass(frozen=True)
class ClusterSpec:
    name: str
    server: str
    key: str = field(repr=False)
    workers: Mapping[Role, WorkerSpec]
    samplers: Bounds
    samplers_first: int
    """The initial number of samplers, before the load is known."""
    trainers: int
    windows: Windows


def with_nobody(spec: ClusterSpec) -> ClusterSpec:
    """Returns the same cluster without any workers."""
    return replace(spec, samplers=Bounds(0, 0), samplers_first=0, trainers=0)
