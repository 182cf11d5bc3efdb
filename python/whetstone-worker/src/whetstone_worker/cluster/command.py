"""`whetstone-worker ray`: finds the cluster, passes the desired state to its controller, and waits until it is reached."""

import argparse
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.util import list_named_actors

from whetstone_worker.cluster.cluster_spec import ClusterSpec, with_nobody
from whetstone_worker.cluster.controller import CONTROLLER, RETRIES, Controller
from whetstone_worker.cluster.ranked_attempt import free_group
from whetstone_worker.cluster.seats import read_seat
from whetstone_worker.cluster.server_view import KeyRefusedError, ServerError, read_server, server_client
from whetstone_worker.cluster.status_table import progress, status_table, what_is_missing

ANSWER_SECONDS = 120.0
"""Limit for an answer of the controller, an actor that Ray may still be starting."""
POLL_SECONDS = 1.0
CONNECT_SECONDS = 120.0


class ClusterError(Exception):
    """The message is for the user of the command."""


def run_ray(given: argparse.Namespace, spec: ClusterSpec | None) -> int:
    """`spec`: for `up`. Returns the exit code."""
    try:
        with _connected(given.address, given.name):
            if given.action == "up":
                assert spec
                return _up(spec, given.wait)
            if given.action == "status":
                return _status(given.name, given.json)
            return _down(given.wait)
    except ClusterError as fault:
        _say(str(fault))
        return 1


def _say(line: str) -> None:
    print(f"whetstone-worker ray: {line}", file=sys.stderr, flush=True)


def _up(spec: ClusterSpec, seconds: float) -> int:
    _try_server(spec)
    _control(spec)
    if seconds > 0:
        _wait_until_settled(seconds, "not all workers are connected")
    print(status_table(_ask_status(_controller(spec.name))))
    return 0


def _try_server(spec: ClusterSpec) -> None:
    """Raises ClusterError if the server refuses the key. A server that does not answer may still be starting: workers retry."""
    try:
        with server_client(spec.server, spec.key) as client:
            read_server(client)
    except KeyRefusedError as fault:
        raise ClusterError(f"{fault} Give a key with the scope worker in --key or WHETSTONE_API_KEY.") from fault
    except ServerError as fault:
        _say(f"{fault}. Workers keep trying to connect until the server answers.")


def _status(name: str, as_json: bool) -> int:
    status = _ask_status(_controller(name))
    print(json.dumps(status, indent=2) if as_json else status_table(status))
    return 0 if status["settled"] else 1


def _down(seconds: float) -> int:
    try:
        controller = ray.get_actor(CONTROLLER)
    except ValueError:
        _remove_orphans()
        return 0
    _control(with_nobody(_answer(controller.spec.remote())))
    _wait_until_settled(seconds, "not all workers have left")
    ray.kill(ray.get_actor(CONTROLLER), no_restart=True)
    return 0


def _control(spec: ClusterSpec) -> None:
    """Ensures a controller with this spec. It finds existing workers by itself."""
    try:
        controller = ray.get_actor(CONTROLLER)
    except ValueError:
        pass
    else:
        if _answer(controller.spec.remote()) == spec:
            return
        ray.kill(controller, no_restart=True)
        _wait_until_gone()
    ray.remote(Controller).options(
        name=CONTROLLER, lifetime="detached", max_restarts=-1, max_task_retries=RETRIES, num_cpus=0
    ).remote(spec)


def _wait_until_gone() -> None:
    until = time.monotonic() + ANSWER_SECONDS
    while CONTROLLER in list_named_actors():
        if time.monotonic() > until:
            raise ClusterError(f"the previous controller did not end within {ANSWER_SECONDS:.0f} s: see Ray's dashboard")
        time.sleep(POLL_SECONDS)


def _wait_until_settled(seconds: float, what: str) -> None:
    """Prints to stderr what it waits for whenever that changes."""
    until = time.monotonic() + seconds
    said = ""
    while not (status := _ask_status(ray.get_actor(CONTROLLER)))["settled"]:
        if time.monotonic() > until:
            raise ClusterError(
                f"after {seconds:.0f} s {what}:\n{what_is_missing(status)}\nThe cluster keeps trying; see `status`."
            )
        if (line := progress(status)) != said:
            _say(line)
            said = line
        time.sleep(POLL_SECONDS)


def _controller(name: str) -> Any:
    try:
        return ray.get_actor(CONTROLLER)
    except ValueError as fault:
        raise ClusterError(f"there are no workers named {name}: `whetstone-worker ray up` starts some") from fault


def _ask_status(controller: Any) -> dict[str, Any]:
    status: dict[str, Any] = _answer(controller.status.remote())
    return status


def _answer(asked: Any) -> Any:
    try:
        return ray.get(asked, timeout=ANSWER_SECONDS)
    except ray.exceptions.GetTimeoutError as fault:
        raise ClusterError(f"the controller did not answer within {ANSWER_SECONDS:.0f} s: see Ray's dashboard") from fault
    except ray.exceptions.RayActorError as fault:
        raise ClusterError(f"the controller ended: {fault}") from fault


def _remove_orphans() -> None:
    """Removes workers without a controller, which exist if the controller was removed by hand."""
    for name in list_named_actors():
        if read_seat(name):
            ray.kill(ray.get_actor(name), no_restart=True)
            free_group(name)


def _give_up(address: str) -> None:
    """Ray itself tries for 15 minutes, in a call that cannot be cancelled."""
    _say(f"the Ray cluster at {address} did not answer within {CONNECT_SECONDS:.0f} s")
    os._exit(1)


@contextmanager
def _connected(address: str, name: str) -> Iterator[None]:
    unanswered = threading.Timer(CONNECT_SECONDS, _give_up, [address])
    unanswered.daemon = True
    unanswered.start()
    try:
        ray.init(address=address, namespace=f"whetstone-{name}", log_to_driver=False, logging_level=logging.WARNING)
    except (ConnectionError, ValueError, RuntimeError) as fault:
        raise ClusterError(f"no Ray cluster at {address}: {fault}. `ray start --head` starts one on this machine.") from fault
    finally:
        unanswered.cancel()
    try:
        yield
    finally:
        ray.shutdown()
