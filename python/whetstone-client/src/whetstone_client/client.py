"""`AsyncClient` for synchronous code: every method calls the one of the same name and waits for its result."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from functools import wraps
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, SupportsFloat, TypeVar

from whetstone_client.async_client import AsyncClient
from whetstone_client.background import iterate_in_background, run_in_background
from whetstone_client.episodes import AsyncEpisode, EpisodeCall, EpisodeData, Outcome
from whetstone_client.http import ANSWER_BYTES_MAX, TIMEOUT_S

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


class Episode:
    """One run of an agent, for synchronous code: `AsyncEpisode` says what its parts are."""

    def __init__(self, episode: AsyncEpisode) -> None:
        self._episode = episode
        self.id, self.name, self.group, self.model_id = episode.id, episode.name, episode.group, episode.model_id
        self.base_url, self.anthropic_base_url = episode.base_url, episode.anthropic_base_url
        self.headers = episode.headers

    def reward(
        self,
        reward: SupportsFloat,
        *,
        metrics: Mapping[str, SupportsFloat] | None = None,
        turn_rewards: Mapping[str, SupportsFloat] | None = None,
        metadata: Mapping[str, Any] | None = None,
        group: str | None = None,
        status: Outcome = "completed",
    ) -> EpisodeData:
        """Ends the episode. The same reward again changes nothing; another replaces it until a job has used it."""
        rewarding = self._episode.reward(
            reward, metrics=metrics, turn_rewards=turn_rewards, metadata=metadata, group=group, status=status
        )
        return run_in_background(rewarding)

    def read(self) -> EpisodeData:
        return run_in_background(self._episode.read())

    def calls(self) -> Iterator[EpisodeCall]:
        """All of its calls, in order."""
        return iterate_in_background(self._episode.calls())

    def delete(self) -> None:
        run_in_background(self._episode.delete())


class Client:
    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        answer_bytes_max: int = ANSWER_BYTES_MAX,
    ) -> None:
        """The address and the key default to `WHETSTONE_URL` and `WHETSTONE_API_KEY`; the others are those of `AsyncClient`."""
        self._client = AsyncClient(base_url, api_key, timeout_s=timeout_s, answer_bytes_max=answer_bytes_max)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    close = _waiting(AsyncClient.close)

    register_model = _waiting(AsyncClient.register_model)
    get_model = _waiting(AsyncClient.get_model)
    list_models = _iterating(AsyncClient.list_models)
    list_model_projects = _iterating(AsyncClient.list_model_projects)
    set_model_labels = _waiting(AsyncClient.set_model_labels)
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

    def episode(
        self,
        model: str,
        *,
        group: str | None = None,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> "Episode":
        """Begins an episode of a model (`project/name`, `entity/project/name`, or its id)."""
        return Episode(
            run_in_background(self._client.episode(model, group=group, name=name, metadata=metadata)),
        )

    create_episode = _waiting(AsyncClient.create_episode)
    reward_episode = _waiting(AsyncClient.reward_episode)
    get_episode = _waiting(AsyncClient.get_episode)
    list_episodes = _iterating(AsyncClient.list_episodes)
    list_episode_calls = _iterating(AsyncClient.list_episode_calls)
    list_episode_tokens = _iterating(AsyncClient.list_episode_tokens)
    delete_episode = _waiting(AsyncClient.delete_episode)
    set_online_training = _waiting(AsyncClient.set_online_training)
    get_online_training = _waiting(AsyncClient.get_online_training)
    delete_online_training = _waiting(AsyncClient.delete_online_training)

    list_runs = _iterating(AsyncClient.list_runs)
    list_run_projects = _iterating(AsyncClient.list_run_projects)
    get_run = _waiting(AsyncClient.get_run)
    list_run_history = _iterating(AsyncClient.list_run_history)
    get_run_curves = _waiting(AsyncClient.get_run_curves)
    delete_run = _waiting(AsyncClient.delete_run)

    get_usage_sums = _waiting(AsyncClient.get_usage_sums)

    list_artifacts = _iterating(AsyncClient.list_artifacts)
    get_artifact = _waiting(AsyncClient.get_artifact)
    push_artifact = _waiting(AsyncClient.push_artifact)
    pull_artifact = _waiting(AsyncClient.pull_artifact)
