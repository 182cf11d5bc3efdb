"""How a cluster reaches its desired state: single cases, and long histories of random events."""

import random

from whetstone_worker.cluster.seats import Changes, Role, Seat, Wanted, WorkerSpec, plan_changes, read_seat

OLD, NEW = "0" * 8, "f" * 8


def samplers(*numbers: int, fingerprint: str = NEW) -> list[Seat]:
    return [Seat("sampler", number, fingerprint) for number in numbers]


def test_an_empty_cluster_gets_all_workers() -> None:
    wanted: dict[Role, Wanted] = {"sampler": Wanted(2, NEW), "trainer": Wanted(1, OLD)}
    assert plan_changes(wanted, [], []) == Changes(start=(*samplers(0, 1), Seat("trainer", 0, OLD)), leave=())


def test_a_cluster_in_its_desired_state_is_not_changed() -> None:
    assert plan_changes({"sampler": Wanted(2, NEW)}, samplers(0, 1), []) == Changes((), ())


def test_the_highest_numbers_leave_first_and_new_workers_fill_the_gaps() -> None:
    assert plan_changes({"sampler": Wanted(2, NEW)}, samplers(0, 2, 3), []) == Changes(
        tuple(samplers(1)), tuple(samplers(2, 3))
    )


def test_workers_whose_command_changed_are_replaced_one_by_one() -> None:
    old = samplers(0, 1, fingerprint=OLD)
    wanted: dict[Role, Wanted] = {"sampler": Wanted(2, NEW)}
    assert plan_changes(wanted, old, []).leave == (old[0],)
    assert plan_changes(wanted, old, [old[0]]) == Changes((), ())
    assert plan_changes(wanted, old[1:], []) == Changes(tuple(samplers(0)), (old[1],))


def test_a_number_is_reused_only_when_it_is_free() -> None:
    assert plan_changes({"sampler": Wanted(1, NEW)}, samplers(0), samplers(0)) == Changes((), ())


def test_names_are_parsed_as_they_are_written() -> None:
    seat = Seat("trainer", 12, NEW)
    assert read_seat(seat.name) == seat
    assert read_seat("controller") is None


def test_fingerprints_differ_if_the_commands_differ() -> None:
    spec = WorkerSpec(("run",), {"WHETSTONE_API_KEY": "a"}, gpus=1, cpus=1)
    again = WorkerSpec(("run",), {"WHETSTONE_API_KEY": "a"}, gpus=1, cpus=1)
    assert spec.fingerprint == again.fingerprint
    assert spec.fingerprint != WorkerSpec(("run",), {"WHETSTONE_API_KEY": "b"}, gpus=1, cpus=1).fingerprint


def test_after_any_events_names_stay_unique_and_the_cluster_settles() -> None:
    for seed in range(200):
        chance = random.Random(seed)
        present: set[Seat] = set()
        leaving: set[Seat] = set()
        wanted: dict[Role, Wanted] = {}
        for moment in range(80):
            if moment < 40 and chance.random() < 0.3:
                wanted = {
                    "sampler": Wanted(chance.randrange(5), chance.choice([OLD, NEW])),
                    "trainer": Wanted(chance.randrange(3), chance.choice([OLD, NEW])),
                }
            changes = plan_changes(wanted, present, leaving)
            present |= set(changes.start)
            leaving |= set(changes.leave)
            assert len({(seat.role, seat.number) for seat in present}) == len(present)
            gone = {seat for seat in leaving if moment >= 40 or chance.random() < 0.5}
            present -= gone
            leaving -= gone
        expected = {Seat(role, n, want.fingerprint) for role, want in wanted.items() for n in range(want.count)}
        assert (present, leaving) == (expected, set())
