"""How many samplers a queue needs, and for how long it must need them."""

import itertools

import pytest

from whetstone_worker.cluster.scaling import Bounds, Load, Need, Windows, choose_count, keep_recent, samplers_needed

BOUNDS = Bounds(1, 8)
WINDOWS = Windows(up_seconds=15, down_seconds=300)


@pytest.mark.parametrize(
    ("load", "needed"),
    [
        (Load(0, 0, capacity=100), 1),  # no load: the lower bound
        (Load(80, 0, capacity=100), 1),
        (Load(81, 0, capacity=100), 2),
        (Load(200, 120, capacity=100), 4),  # waiting choices count like running ones
        (Load(0, 10_000, capacity=100), 8),  # never more than the upper bound
        (Load(0, 7, capacity=None), 1),  # no sampler has reported its capacity
    ],
)
def test_the_need_at_a_moment_follows_from_the_load(load: Load, needed: int) -> None:
    assert samplers_needed(load, BOUNDS) == needed


def history(*needs: tuple[float, int]) -> list[Need]:
    return [Need(at, samplers) for at, samplers in needs]


def test_samplers_are_started_when_they_are_needed_for_the_whole_short_window() -> None:
    assert choose_count(1, history((0, 4), (10, 6), (14, 4)), 14, BOUNDS, WINDOWS) == 1
    assert choose_count(1, history((0, 4), (10, 6), (15, 4)), 15, BOUNDS, WINDOWS) == 4


def test_a_lull_within_the_short_window_starts_no_sampler() -> None:
    assert choose_count(1, history((0, 8), (16, 1), (20, 8)), 20, BOUNDS, WINDOWS) == 1


def test_samplers_are_stopped_only_when_the_whole_long_window_needs_fewer() -> None:
    assert choose_count(6, history((0, 6), (10, 2), (300, 2)), 300, BOUNDS, WINDOWS) == 6
    assert choose_count(6, history((0, 6), (10, 2), (150, 3), (310, 2)), 310, BOUNDS, WINDOWS) == 3


def test_new_bounds_take_effect_at_once() -> None:
    assert choose_count(6, [], 0, Bounds(1, 4), WINDOWS) == 4
    assert choose_count(1, [], 0, Bounds(3, 4), WINDOWS) == 3


def test_a_fluctuating_load_keeps_the_samplers_that_its_peaks_need() -> None:
    needs: list[Need] = []
    count = 1
    counts = []
    for second in range(0, 3600, 2):
        needs = keep_recent([*needs, Need(second, 5 if second % 120 < 60 else 1)], second, WINDOWS)
        count = choose_count(count, needs, second, BOUNDS, WINDOWS)
        counts.append(count)
    assert counts[-1] == 5
    assert sum(before != after for before, after in itertools.pairwise(counts)) == 1
    assert len(needs) < 200  # needs outside of all windows are forgotten
