"""`AsyncClient` for synchronous code: every method calls the one of the same name and waits for its result."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

from whetstone_client.async_client import AsyncClient
from whetstone_client.background import iterate_in_background, run_in_background

P = ParamSpec("P")
T = TypeVar("T")


def _waiting(
    method: Callable[Concatenate[AsyncClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["Client", P], T]:
    @wraps(method)
    def call(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return run_in_background(method(self._client, *args, **kwargs))

    return call


def _iterating(
    method: Callable[Concatenate[AsyncClient, P], AsyncIterator[T]],
) -> Callable[Concatenate["Client", P], Iterator[T]]:
    @wraps(method)
    def call(self: "Client", /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        return iterate_in_background(method(self._client, *args, **kwargs))

    return call


class Client:
    def __init__(self, base_url: str | None = None, api_key: str | None = None) -> None:
        """Arguments default to `WHETSTONE_URL` and `WHETSTONE_API_KEY`."""
        self._client = AsyncClient(base_url, api_key)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    close = _waiting(AsyncClient.close)

    register_model = _waiting(AsyncClient.register_model)
    get_model = _waiting(AsyncClient.get_model)
    list_models = _iterating(AsyncClient.list_models)
    delete_model = _waiting(AsyncClient.delete_model)
    list_checkpoints = _iterating(AsyncClient.list_checkpoints)
    best_checkpoint = _waiting(AsyncClient.best_checkpoint)
    delete_checkpoints = _waiting(AsyncClient.delete_checkpoints)
    download_checkpoint = _waiting(AsyncClient.download_checkpoint)
    list_history = _iterating(AsyncClient.list_history)

    chat = _waiting(AsyncClient.chat)
    chat_stream = _iterating(AsyncClient.chat_stream)

    set_save_policy = _waiting(AsyncClient.set_save_policy)
    submit = _waiting(AsyncClient.submit)
    train = _waiting(AsyncClient.train)
    follow = _waiting(AsyncClient.follow)
    follow_events = _iterating(AsyncClient.follow_events)
    get_training_job = _waiting(AsyncClient.get_training_job)
    list_training_jobs = _iterating(AsyncClient.list_training_jobs)
    list_events = _iterating(AsyncClient.list_events)
    cancel_training_job = _waiting(AsyncClient.cancel_training_job)

    wait_for_evaluation = _waiting(AsyncClient.wait_for_evaluation)
    list_evaluation_answers = _iterating(AsyncClient.list_evaluation_answers)
    reward_answers = _waiting(AsyncClient.reward_answers)
    log = _waiting(AsyncClient.log)

    list_artifacts = _iterating(AsyncClient.list_artifacts)
    get_artifact = _waiting(AsyncClient.get_artifact)
    push_artifact = _waiting(AsyncClient.push_artifact)
    pull_artifact = _waiting(AsyncClient.pull_artifact)
