"""Which adapters vLLM has: requested ones are loaded, the least recently used go first, those in use stay."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from file_server import FileServer
from played_vllm import PlayedVllm, play_vllm
from server import PATIENCE
from small_adapters import STARTER_QUERY, write_adapter
from whetstone_worker.errors import WorkerError
from whetstone_worker.files import open_worker_files
from whetstone_worker.sampling import adapters as adapters_module
from whetstone_worker.sampling.adapter_shapes import AdapterShapes
from whetstone_worker.sampling.adapters import Adapters, versioned_name
from whetstone_worker.sampling.request import WireAdapter
from whetstone_worker.sampling.vllm_client import open_vllm_client

SHAPES = AdapterShapes({f"{layer}.weight": shape for layer, shape in STARTER_QUERY.items()}, rank_max=16)
LOAD, UNLOAD = "/v1/load_lora_adapter", "/v1/unload_lora_adapter"


@pytest.fixture
def server() -> Iterator[FileServer]:
    server = FileServer()
    yield server
    server.close()


def offered(
    server: FileServer, directory: Path, name: str, fill: int = 0, layers: dict[str, tuple[int, int]] | None = None
) -> WireAdapter:
    source = directory / f"{name}-{fill}"
    source.mkdir()
    files = write_adapter(source, layers or STARTER_QUERY, rank=4, fill=fill)
    for file in files:
        server.files[file.sha256] = (source / file.name).read_bytes()
    return WireAdapter(name, tuple(files))


Scene = Callable[[Adapters, PlayedVllm], Awaitable[None]]


def play(server: FileServer, directory: Path, scene: Scene, loaded_max: int = 2) -> None:
    cache = directory / "cache"
    cache.mkdir()

    async def run() -> None:
        async with (
            play_vllm(directory) as (played, socket),
            open_vllm_client(socket) as client,
            open_worker_files(server.url, "key", cache, 1 << 30, retry_pauses=()) as files,
        ):
            await asyncio.wait_for(scene(Adapters(client, files, SHAPES, loaded_max), played), 3 * PATIENCE)

    asyncio.run(run())


def directories(directory: Path) -> int:
    return len(list((directory / "cache" / "scratch").iterdir()))


def test_an_adapter_is_loaded_once_under_a_name_with_its_hash(server: FileServer, tmp_path: Path) -> None:
    first = offered(server, tmp_path, "one")
    other = offered(server, tmp_path, "one", fill=1)

    async def scene(adapters: Adapters, played: PlayedVllm) -> None:
        await asyncio.gather(*(adapters.load(first) for _ in range(5)))
        assert played.paths() == [LOAD]
        assert played.adapters == {versioned_name(first)}
        assert adapters.ids == ["one"]
        assert directories(tmp_path) == 1
        await adapters.load(other)  # a server would not send it; if it does, cached keys and values must not meet new weights
        assert versioned_name(other) != versioned_name(first)
        assert len(played.adapters) == 2

    play(server, tmp_path, scene)


def test_without_room_the_least_recently_used_adapter_is_unloaded(server: FileServer, tmp_path: Path) -> None:
    one, two, three = (offered(server, tmp_path, name) for name in ("one", "two", "three"))

    async def scene(adapters: Adapters, played: PlayedVllm) -> None:
        await adapters.load(one)
        await adapters.load(two)
        async with adapters.in_use(one):
            pass
        await adapters.load(three)
        assert adapters.ids == ["one", "three"]
        assert played.adapters == {versioned_name(one), versioned_name(three)}
        assert directories(tmp_path) == 2

    play(server, tmp_path, scene)


def test_adapters_in_use_stay_loaded_and_requests_for_room_wait(server: FileServer, tmp_path: Path) -> None:
    one, two = (offered(server, tmp_path, name) for name in ("one", "two"))

    async def scene(adapters: Adapters, played: PlayedVllm) -> None:
        async with adapters.in_use(one) as name:
            waiting = asyncio.create_task(adapters.load(two))
            while directories(tmp_path) < 2:
                await asyncio.sleep(0.01)
            assert not waiting.done()
            assert played.adapters == {name}
        await waiting
        assert adapters.ids == ["two"]

    play(server, tmp_path, scene, loaded_max=1)


def test_a_request_that_waits_too_long_for_room_gets_the_cause(
    server: FileServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters_module, "ROOM_SECONDS", 0.0)
    one, two = (offered(server, tmp_path, name) for name in ("one", "two"))

    async def scene(adapters: Adapters, _: PlayedVllm) -> None:
        async with adapters.in_use(one):
            with pytest.raises(WorkerError, match="Requests have kept all 1 adapters") as fault:
                await adapters.load(two)
            assert fault.value.code == "engine_unavailable"
            assert directories(tmp_path) == 1

    play(server, tmp_path, scene, loaded_max=1)


def test_an_unloaded_adapter_goes_when_its_last_request_has_ended(server: FileServer, tmp_path: Path) -> None:
    one = offered(server, tmp_path, "one")

    async def scene(adapters: Adapters, played: PlayedVllm) -> None:
        async with adapters.in_use(one):
            await adapters.unload("one")
            await adapters.unload("one")
            assert adapters.ids == []
            assert played.paths() == [LOAD]
        while played.adapters:
            await asyncio.sleep(0.01)
        assert played.paths() == [LOAD, UNLOAD]
        await adapters.unload("never there")
        await adapters.load(one)
        assert adapters.ids == ["one"]
        assert played.paths() == [LOAD, UNLOAD, LOAD]

    play(server, tmp_path, scene)


def test_an_adapter_requested_again_before_its_last_request_has_ended_stays(server: FileServer, tmp_path: Path) -> None:
    one = offered(server, tmp_path, "one")

    async def scene(adapters: Adapters, played: PlayedVllm) -> None:
        async with adapters.in_use(one):
            await adapters.unload("one")
            await adapters.load(one)
        assert adapters.ids == ["one"]
        assert played.paths() == [LOAD]

    play(server, tmp_path, scene)


def test_an_adapter_whose_request_is_cancelled_during_loading_is_known_as_loaded(server: FileServer, tmp_path: Path) -> None:
    one = offered(server, tmp_path, "one")

    async def scene(adapters: Adapters, played: PlayedVllm) -> None:
        played.hold_after = 0
        loading = asyncio.create_task(adapters.load(one))
        while played.paths() != [LOAD]:
            await asyncio.sleep(0.01)
        loading.cancel()
        await asyncio.gather(loading, return_exceptions=True)
        played.go.set()
        while adapters.ids != ["one"]:
            await asyncio.sleep(0.01)
        await adapters.load(one)
        assert played.paths() == [LOAD]

    play(server, tmp_path, scene)


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        (
            {"model.layers.0.self_attn.q_proj": (192, 64)},
            r"q_proj\.lora_A\.weight is \[4, 64\], the base model needs \[4, 192\]",
        ),
        (
            {"model.layers.0.self_attn.q_proj": (64, 192)},
            r"q_proj\.lora_B\.weight is \[64, 4\], the base model needs \[192, 4\]",
        ),
        ({"model.layers.9.self_attn.q_proj": (192, 192)}, "has no place in the base model"),
    ],
)
def test_an_adapter_of_another_model_never_reaches_vllm(
    server: FileServer, tmp_path: Path, layers: dict[str, tuple[int, int]], words: str
) -> None:
    misfit = offered(server, tmp_path, "misfit", layers=layers)

    async def scene(adapters: Adapters, played: PlayedVllm) -> None:
        with pytest.raises(WorkerError, match=words) as fault:
            await adapters.load(misfit)
        assert fault.value.code == "bad_model_files"
        assert played.paths() == []
        assert directories(tmp_path) == 0

    play(server, tmp_path, scene)


def test_an_adapter_that_vllm_refuses_is_refused_with_vllm_s_message(server: FileServer, tmp_path: Path) -> None:
    one = offered(server, tmp_path, "one")

    async def scene(adapters: Adapters, played: PlayedVllm) -> None:
        played.adapters.add(versioned_name(one))
        with pytest.raises(WorkerError, match=r"vLLM refused to load the adapter: .*already been loaded") as fault:
            await adapters.load(one)
        assert fault.value.code == "bad_model_files"
        assert adapters.ids == []
        assert directories(tmp_path) == 0

    play(server, tmp_path, scene)
