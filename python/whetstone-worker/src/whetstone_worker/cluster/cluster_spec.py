"""What a cluster should be, in one value that `up` makes and the controller keeps."""

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
    """How many of them to begin with, before anything is known of the load."""
    trainers: int
    windows: Windows


def with_nobody(spec: ClusterSpec) -> ClusterSpec:
    """The same cluster when everybody has left."""
    return replace(spec, samplers=Bounds(0, 0), samplers_first=0, trainers=0)
