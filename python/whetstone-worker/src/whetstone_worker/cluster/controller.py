"""The actor that brings a cluster to its desired state and keeps it there: compares the existing actors with the desired ones
(seats.py), starts and removes workers, and asks the server how many samplers its queue needs (scaling.py). It holds no state
that it could not find again: after a restart it continues with the actors that exist.
"""

import logging
import threading
import time
from dataclasses import dataclass
from typing import Any

import ray
from ray.util import list_named_actors

from whetstone_worker.cluster.cluster_spec import ClusterSpec
from whetstone_worker.cluster.ranked_attempt import free_group
from whetstone_worker.cluster.scaling import Need, choose_count, keep_recent, samplers_needed
from whetstone_worker.cluster.seats import Role, Seat, Wanted, plan_changes, read_seat
from whetstone_worker.cluster.server_view import ServerError, ServerView, read_server, server_client
from whetstone_worker.cluster.status_table import why_unplaced
from whetstone_worker.cluster.worker_actor import WorkerActor
from whetstone_worker.supervisor import KILL_SECONDS, LEAVE_SECONDS

CONTROLLER = "controller"
TICK_SECONDS = 2.0
REPORT_SECONDS = 20.0
"""Limit for an actor's report. An actor on a node answers at once, whatever its worker does."""
RETRIES = 3

log = logging.getLogger(__name__)


@dataclass
class Member:
    """An existing actor."""

    seat: Seat
    actor: Any
    asked: Any = None
    """The pending report."""
    asked_at: float = 0.0
    report: dict[str, Any] | None = None
    """The last report. None: there has been none."""
    reported_at: float = 0.0
    leaving_since: float | None = None

    @property
    def is_silent(self) -> bool:
        """Whether the actor is on no node, or its node is gone."""
        return self.asked is not None and time.monotonic() - self.asked_at > REPORT_SECONDS


class Controller:
    def __init__(self, spec: ClusterSpec) -> None:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
        self._spec = spec
        self._members: dict[str, Member] = {}
        self._samplers: int | None = None
        """None: the existing samplers have not been counted yet."""
        self._needs: list[Need] = []
        self._view: ServerView | None = None
        self._fault: str | None = "the server's queue has not been read yet"
        self._ticked = threading.Event()
        self._http = server_client(spec.server, spec.key)
        threading.Thread(target=self._run, name="controller", daemon=True).start()

    def spec(self) -> ClusterSpec:
        return self._spec

    def status(self) -> dict[str, Any]:
        """Waits until the cluster has been inspected once."""
        self._ticked.wait(REPORT_SECONDS * 2)
        spec, view = self._spec, self._view
        load = view.load_of(self._names("sampler")) if view else None
        return {
            "cluster": spec.name,
            "server": spec.server,
            "fault": self._fault,
            "samplers": {"wanted": self._samplers, "least": spec.samplers.least, "most": spec.samplers.most},
            "trainers": {"wanted": spec.trainers},
            "queue": load and {"running": load.running, "waiting": load.waiting},
            "settled": self._is_settled(),
            "workers": [self._describe(member) for member in sorted(self._members.values(), key=lambda each: each.seat)],
        }

    def _run(self) -> None:
        while True:
            try:
                self._tick()
                self._ticked.set()
            except Exception as fault:  # such as a restarted head or a lost node: any failure is retried
                self._fault = f"the controller could not update the cluster: {type(fault).__name__}: {fault}"
                log.exception("Could not update the cluster; trying again in %.0f s.", TICK_SECONDS)
            time.sleep(TICK_SECONDS)

    def _tick(self) -> None:
        self._find_members()
        if self._samplers is None:
            self._samplers = self._spec.samplers.within(max(self._spec.samplers_first, len(self._names("sampler"))))
        self._samplers = self._ask_server(self._samplers)
        self._read_reports()
        changes = plan_changes(
            self._wanted(),
            [member.seat for member in self._members.values()],
            [member.seat for member in self._members.values() if member.leaving_since is not None],
        )
        for seat in changes.start:
            self._start(seat)
        for seat in changes.leave:
            self._let_go(self._members[seat.name])
        for member in list(self._members.values()):
            self._remove_if_left(member)

    def _wanted(self) -> dict[Role, Wanted]:
        counts: dict[Role, int] = {"sampler": self._samplers or 0, "trainer": self._spec.trainers}
        return {role: Wanted(counts[role], worker.fingerprint) for role, worker in self._spec.workers.items()}

    def _find_members(self) -> None:
        """Finds also the actors that another controller started. Forgets those that are gone for good."""
        names = {name for name in list_named_actors() if read_seat(name)}
        for name in names - self._members.keys():
            seat = read_seat(name)
            assert seat
            try:
                self._members[name] = Member(seat, ray.get_actor(name))
            except ValueError:
                continue  # it ended just now
        for name in self._members.keys() - names:
            del self._members[name]

    def _ask_server(self, samplers: int) -> int:
        """Returns how many samplers there should be."""
        try:
            self._view = read_server(self._http)
        except ServerError as fault:
            self._fault, self._view = str(fault), None
            return samplers  # the load is unknown
        self._fault = None
        now, spec = time.monotonic(), self._spec
        need = samplers_needed(self._view.load_of(self._names("sampler")), spec.samplers)
        self._needs = keep_recent([*self._needs, Need(now, need)], now, spec.windows)
        count = choose_count(samplers, self._needs, now, spec.samplers, spec.windows)
        if count != samplers:
            log.info("Changing the number of samplers from %d to %d.", samplers, count)
        return count

    def _read_reports(self) -> None:
        """Requests reports, and reads those that have arrived since the last time. Does not wait."""
        for member in self._members.values():
            if member.asked is None:
                member.asked, member.asked_at = member.actor.report.remote(), time.monotonic()
            done, _ = ray.wait([member.asked], timeout=0)
            if not done:
                continue
            asked, member.asked = member.asked, None
            try:
                member.report, member.reported_at = ray.get(asked), time.monotonic()
            except ray.exceptions.RayActorError:
                member.report = None  # Ray restarts it

    def _start(self, seat: Seat) -> None:
        worker = self._spec.workers[seat.role]
        placed = {"num_gpus": worker.gpus, "num_cpus": worker.cpus} if worker.ranks == 1 else {"num_cpus": 0}
        log.info("Starting %s.", seat.name)
        ray.remote(WorkerActor).options(
            name=seat.name, lifetime="detached", max_restarts=-1, max_task_retries=RETRIES, **placed
        ).remote(worker, seat.worker_name(self._spec.name), seat.name)

    def _let_go(self, member: Member) -> None:
        log.info("Asking %s to leave.", member.seat.name)
        member.leaving_since = time.monotonic()
        member.actor.leave.remote()

    def _remove_if_left(self, member: Member) -> None:
        if member.leaving_since is None:
            return
        heard = member.reported_at > member.leaving_since
        phase = member.report["phase"] if member.report and heard else None
        waited = time.monotonic() - member.leaving_since
        if phase == "left":
            cause = "it has left"
        elif waited > LEAVE_SECONDS + KILL_SECONDS:
            cause = f"it did not leave within {waited:.0f} s"
        elif member.is_silent:
            cause = "it is not on any node"
        else:
            if phase not in (None, "leaving"):
                member.actor.leave.remote()  # it was restarted and does not know that it should leave
            return
        log.info("Removing %s: %s.", member.seat.name, cause)
        ray.kill(member.actor, no_restart=True)
        free_group(member.seat.name)

    def _names(self, role: Role) -> list[str]:
        cluster = self._spec.name
        return [member.seat.worker_name(cluster) for member in self._members.values() if member.seat.role == role]

    def _is_settled(self) -> bool:
        """Whether all desired workers are connected and no others exist."""
        if not self._ticked.is_set():
            return False
        wanted = {Seat(role, n, want.fingerprint) for role, want in self._wanted().items() for n in range(want.count)}
        if wanted != {member.seat for member in self._members.values()}:
            return False
        names = [seat.worker_name(self._spec.name) for seat in wanted]
        view = self._view
        return not names or (view is not None and all(view.state_of(name) == "connected" for name in names))

    def _describe(self, member: Member) -> dict[str, Any]:
        name = member.seat.worker_name(self._spec.name)
        report = (
            {"phase": "unplaced", "cause": self._why_unplaced(member.seat)}
            if member.report is None or member.is_silent
            else member.report
        )
        return {
            "name": name,
            "actor": member.seat.name,
            "role": member.seat.role,
            "on_server": self._view.state_of(name) if self._view else None,
            **report,
        }

    def _why_unplaced(self, seat: Seat) -> str:
        worker = self._spec.workers[seat.role]
        cluster: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
        return why_unplaced(worker.gpus * worker.ranks, worker.cpus * worker.ranks, cluster)
