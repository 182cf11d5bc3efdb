"""Which workers should exist in a cluster, and what to change to get there. Pure: names and numbers in, names out.

A seat is the place of one worker: its role, its number, and a fingerprint of its command. All three are in the name of its
actor, so that the existing actors can be compared with the desired ones without asking them.
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
    """The workers of one role. Each has `ranks` processes, with `gpus` GPUs and `cpus` cores per process."""

    command: tuple[str, ...]
    """`{name}` in it becomes the worker's name, `{python}` the Python interpreter of its node."""
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
        """The name of its actor."""
        return f"{self.role}-{self.number}.{self.fingerprint}"

    def worker_name(self, cluster: str) -> str:
        """The name in the server's lists, which is the same for every worker in this seat."""
        return f"{cluster}-{self.role}-{self.number}"


def read_seat(name: str) -> Seat | None:
    """Returns None if it is not the name of a seat."""
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
    """`present`: all seats that have an actor; `leaving`: those of them that were asked to leave.

    A number is reused only when it is free: two workers never share a name, and a worker that replaces another gets its GPUs.
    Workers whose command has changed are replaced one at a time per role, so that the others continue.
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
