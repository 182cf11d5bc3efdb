"""A worker of several processes, one per GPU. A placement group of Ray reserves the GPUs for as long as the worker has its
seat; the processes find each other as with torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT). If one of them ends, all
are ended, because the others would wait for it.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

import ray
from ray.util import get_placement_group, placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from whetstone_worker.cluster.rank_actor import RankActor
from whetstone_worker.cluster.seats import WorkerSpec
from whetstone_worker.supervisor import NotPlacedError

PLACE_SECONDS = 60.0
START_SECONDS = 300.0
"""Limit for an actor on a new node, which reads Python's packages for the first time."""
POLL_SECONDS = 1.0
SILENCE_SECONDS = 60.0
"""Limit for an answer of a rank's actor, which does nothing but wait for its process."""
GONE_CODE = 128


class RankGroup:
    """The GPUs of one seat. By its name a restarted actor finds the group that it held before."""

    def __init__(self, seat: str, spec: WorkerSpec) -> None:
        self.ranks = spec.ranks
        self.options = {"num_gpus": spec.gpus, "num_cpus": spec.cpus}
        self._seat = seat
        self._places: list[str] = []
        bundle = {"CPU": spec.cpus, **({"GPU": spec.gpus} if spec.gpus else {})}
        self._held = find_group(seat) or placement_group([bundle] * spec.ranks, strategy="PACK", name=seat, lifetime="detached")

    def wait_for_room(self) -> PlacementGroupSchedulingStrategy:
        if not self._held.wait(PLACE_SECONDS):
            raise NotPlacedError(f"the cluster has no room for {self.ranks} × {self.options}; the request to Ray stays open")
        return PlacementGroupSchedulingStrategy(self._held)

    def note_places(self, places: Sequence[Sequence[str]]) -> None:
        self._places = [place for of_rank in places for place in of_rank]

    def places(self) -> list[str]:
        """`host:GPU` of the ranks that were started last."""
        return self._places


def find_group(seat: str) -> Any:
    """Returns None if there is no group of this name."""
    try:
        return get_placement_group(seat)
    except ValueError:
        return None


def free_group(seat: str) -> None:
    """Frees the group of a seat that no longer has a worker."""
    if held := find_group(seat):
        remove_placement_group(held)


class RankedAttempt:
    def __init__(self, group: RankGroup, command: list[str], environment: Mapping[str, str]) -> None:
        strategy = group.wait_for_room()
        actor = ray.remote(RankActor).options(scheduling_strategy=strategy, **group.options)
        self._ranks: list[Any] = [actor.remote() for _ in range(group.ranks)]
        self._words = ""
        self._first_end: float | None = None
        try:
            host, port = ray.get(self._ranks[0].address.remote(), timeout=START_SECONDS)
            group.note_places(ray.get([rank.places.remote() for rank in self._ranks], timeout=START_SECONDS))
            shared = {**environment, "WORLD_SIZE": str(group.ranks), "MASTER_ADDR": host, "MASTER_PORT": str(port)}
            starts = [
                rank.start.remote(command, {**shared, "RANK": str(number), "LOCAL_RANK": "0"})
                for number, rank in enumerate(self._ranks)
            ]
            ray.get(starts, timeout=START_SECONDS)
        except BaseException:
            self.kill()
            raise

    def wait(self, seconds: float) -> int | None:
        until = time.monotonic() + seconds
        while True:
            if (code := self._poll()) is not None:
                self.kill()  # the other ranks
                return code
            if time.monotonic() > until:
                return None
            time.sleep(min(POLL_SECONDS, seconds))

    def ask_to_leave(self) -> None:
        """Rank 0 has the connection; the others end after it."""
        self._ranks[0].ask_to_leave.remote()

    def kill(self) -> None:
        for rank in self._ranks:
            ray.kill(rank)  # its leash kills the process

    def last_words(self) -> str:
        return self._words

    def _poll(self) -> int | None:
        try:
            polled = ray.get([rank.poll.remote() for rank in self._ranks], timeout=SILENCE_SECONDS)
        except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError) as fault:
            self._words += f"\nA rank's actor is gone: {fault}"
            return GONE_CODE
        codes = [code for code, _ in polled]
        self._words = "\n".join(f"Rank {number}: {words}" for number, (_, words) in enumerate(polled))
        if self._first_end is None and any(code is not None for code in codes):
            self._first_end = time.monotonic()
        return outcome_of(codes, 0.0 if self._first_end is None else time.monotonic() - self._first_end)


def outcome_of(codes: Sequence[int | None], seconds: float) -> int | None:
    """Returns the exit code of the worker from those of its ranks, or None if it continues. `seconds`: time since the first
    rank ended. In a normal end rank 0 leaves its server, and the others follow within a moment."""
    if failed := [code for code in codes if code]:
        return failed[0]
    if all(code == 0 for code in codes):
        return 0
    return GONE_CODE if seconds > SILENCE_SECONDS else None
