"""Rollouts: those that fail are left out and counted."""

import asyncio
import threading

import pytest

from whetstone_client import ApiError, Place, Trajectory, gather, gather_async


def worth(reward: float) -> Trajectory:
    return Trajectory(messages_and_choices=[], reward=reward)


def test_rollouts_are_grouped_by_scenario() -> None:
    gathered = gather([1, 2], lambda scenario, place: [worth(scenario), worth(scenario + place.rollout)], rollouts=2)
    assert [[each.reward for each in group.trajectories] for group in gathered.groups] == [[1, 1, 1, 2], [2, 2, 2, 3]]
    assert (gathered.reward, gathered.trajectories) == (14 / 8, 8)


def test_a_failed_rollout_is_left_out_and_counted_and_gets_no_reward_of_0() -> None:
    def play(scenario: str, place: Place) -> Trajectory:
        if scenario == "broken" and place.rollout == 1:
            raise ApiError(400, "too long", "context_too_long", None, None)
        return worth(1)

    gathered = gather(["fine", "broken"], play, rollouts=2)
    assert gathered.reward == 1
    assert len(gathered.groups[1].trajectories) == 1
    assert gathered.groups[1].exceptions == [{"type": "ApiError", "message": "too long"}]
    assert [(failure.group, failure.rollout) for failure in gathered.failures] == [(1, 1)]


def test_a_rollout_is_retried_unless_it_was_refused() -> None:
    asked = {"away": 0, "refused": 0}

    def play(scenario: str, _: Place) -> Trajectory:
        asked[scenario] += 1
        if scenario == "away" and asked[scenario] <= 2:
            raise ApiError(503, "Busy.", None, None, retry_after_s=0)
        if scenario == "refused":
            raise ApiError(404, "No model.", None, None, None)
        return worth(0.5)

    gathered = gather(asked.copy(), play)
    assert gathered.reward == 0.5
    assert asked == {"away": 3, "refused": 1}


def test_a_reward_that_is_not_a_number_is_a_failure() -> None:
    gathered = gather([1.0, float("nan")], lambda scenario, _: worth(scenario), retries=0)
    assert (gathered.reward, len(gathered.failures)) == (1, 1)


def test_if_every_rollout_fails_the_error_names_the_cause() -> None:
    def play(_: int, __: Place) -> Trajectory:
        raise ApiError(401, "Invalid API key.", None, None, None)

    with pytest.raises(RuntimeError, match="All 2 rollouts failed, the first with: Invalid API key"):
        gather([1, 2], play)


def test_the_limit_of_concurrent_rollouts_is_kept() -> None:
    running, most = 0, 0

    async def play(_: int, __: Place) -> Trajectory:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return worth(1)

    asyncio.run(gather_async(range(20), play, concurrency=3))
    assert most == 3


def test_synchronous_functions_work_in_a_running_event_loop() -> None:
    async def notebook() -> float:
        return gather([1], lambda _, __: worth(threading.current_thread().name.startswith("rollout"))).reward

    assert asyncio.run(notebook()) == 1
