"""Who there should be in a cluster, and what is to change until it is so. Pure: names and numbers in, names out.

A seat is the place of one worker: its role, its number, and a fingerprint of what it was asked to run, all three in the name of
its actor, so that who is there can be compared with who should be without asking anybody.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal, cast

Role = Literal["sampler", "trainer"]
ROLES: tuple[Role, ...] = ("sampler", "trainer")

_NAME = re.compile(r"(sampler|trainer)-(\d+)\.([0-9a-f]{8})")


@dataclass(frozen=True)
class WorkerSpec:
    """What each worker of a role is. `ranks` processes with `gpus` GPUs and `cpus` cores each, all of one worker."""

    command: tuple[str, ...]
    """`{name}` in it becomes the worker's name, `{python}` the interpreter of its node."""
    environment: Mapping[str, str] = field(repr=False)
    gpus: float
    cpus: float
    ranks: int = 1

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:8]


@dataclass(frozen=True, order=True)
class Seat:
    role: Role
    number: int
    fingerprint: str

    @property
    def name(self) -> str:
        """Of its actor."""
        return f"{self.role}-{self.number}.{self.fingerprint}"

    def worker_name(self, cluster: str) -> str:
        """As the server's lists have it: the same for every worker that sits there."""
        return f"{cluster}-{self.role}-{self.number}"


def read_seat(name: str) -> Seat | None:
    """None: no seat's name."""
    match = _NAME.fullmatch(name)
    return match and Seat(cast(Role, match[1]), int(match[2]), match[3])


@dataclass(frozen=True)
class Wanted:
    count: int
    fingerprint: str


@dataclass(frozen=True)
class Changes:
    start: tuple[Seat, ...]
    leave: tuple[Seat, ...]


def plan_changes(wanted: Mapping[Role, Wanted], present: Collection[Seat], leaving: Collection[Seat]) -> Changes:
    """`present`: all that have an actor; `leaving`: those of them that were asked to go.

    A number is given again only when nobody has it: two workers never share a name, and a worker that replaces another gets
    its GPUs. Those that were asked to run something else are replaced one by one of each role, so that the others go on.
    """
    start: list[Seat] = []
    leave: list[Seat] = []
    for role in ROLES:
        want = wanted.get(role, Wanted(0, ""))
        seated = {seat.number for seat in present if seat.role == role}
        staying = sorted(seat for seat in present if seat.role == role and seat not in leaving)
        start += [Seat(role, number, want.fingerprint) for number in range(want.count) if number not in seated]
        leave += [seat for seat in staying if seat.number >= want.count]
        outdated = [seat for seat in staying if seat.number < want.count and seat.fingerprint != want.fingerprint]
        if not any(seat.role == role for seat in leaving):
            leave += outdated[:1]
    return Changes(tuple(start), tuple(leave))
