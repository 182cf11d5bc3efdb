"""Episodes: an address for an agent, whose calls the server records, and a reward for what the agent did."""

import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Mapping
from typing import Any, Literal, SupportsFloat
from urllib.parse import quote

from whetstone_client.answers import segment
from whetstone_client.http import Http
from whetstone_client.retry import SHORT_ATTEMPTS, insist, is_no_outage
from whetstone_client.wire import Model, Wire

EpisodeStatus = Literal["open", "rewarded", "trained", "expired"]
Outcome = Literal["completed", "failed"]


class EpisodeData(Wire):
    """An episode as the server has it."""

    id: str
    name: str
    group: str | None
    model_id: str
    status: EpisodeStatus
    outcome: Outcome | None
    reward: float | None
    metrics: dict[str, float]
    turn_rewards: dict[str, float]
    metadata: dict[str, Any]
    trained_by: str | None
    """The training job that used it."""
    call_count: int
    token_count: int
    """Tokens that calls share count once."""
    trained_token_count: int
    stored_bytes: int
    created_at: str
    last_call_at: str | None
    rewarded_at: str | None
    expired_at: str | None


class OpenGroup(Wire):
    """A group that is not complete."""

    name: str
    open: int
    """Episodes without a reward."""
    rewarded: int


class OnlineTraining(Wire):
    """How the online training of a model stands."""

    model_id: str
    status: Literal["active", "paused", "reached"]
    waiting_for: str
    """A sentence: what the next step waits for."""
    step: int
    """The model's latest."""
    complete_groups: int
    missing_groups: int
    open_groups: list[OpenGroup]
    """The oldest that are not complete."""
    stale_groups: list[OpenGroup]
    """The oldest with enough rewards, of episodes that are older than `max_staleness`."""
    running_job_id: str | None
    last_job_id: str | None
    job_count: int
    groups_per_step: int
    group_size_min: int
    max_staleness: int | None
    until_step: int | None
    experimental_config: dict[str, Any] | None = None
    """As it was sent, like the evaluation."""
    evaluation: dict[str, Any] | None = None
    created_at: str
    updated_at: str
    warnings: list[str] | None = None


class CreatedEpisode(EpisodeData):
    base_url: str
    """For OpenAI clients."""
    anthropic_base_url: str
    warnings: list[str] | None = None


class _Call(Wire):
    id: str
    answer_id: str
    """The `id` of the answer that the agent got; names the call in `turn_rewards`."""
    model: str
    policy_step: int | None
    trained: bool
    cut: bool
    reshaped_by: list[str]
    """Fields that made the sampling differ from the model's own."""
    created_at: str
    parent_id: str | None
    """The call that it continues; None: a tree begins here."""
    parent_choice: int | None
    shared_tokens: int
    prompt_tokens: int


class EpisodeCall(_Call):
    shared_messages: int
    messages: list[dict[str, Any]] | None
    """Those that the parent does not have; None: the prompt was text or token ids."""
    tools: list[dict[str, Any]] | None
    shares_tools: bool
    """Its tools are those of the parent."""
    sampling: dict[str, Any]
    template: dict[str, Any]
    choices: list["SaidChoice"]


class SaidChoice(Wire):
    index: int
    completion_tokens: int
    finish_reason: str | None
    constrained: bool
    content: str
    reasoning: str
    tool_calls: list[dict[str, Any]]


class EpisodeTokens(_Call):
    """The tokens of one call, as they were sampled."""

    prompt_token_ids: list[int]
    choices: list["ChoiceTokens"]


class ChoiceTokens(Wire):
    index: int
    finish_reason: str | None
    constrained: bool
    token_ids: list[int]
    logprobs: list[float]
    """Nats."""
    texts: list[str] | None
    """What each token completes. None: the server does not have the base model."""


class _WithCalls(EpisodeData):
    calls: list[EpisodeCall]
    has_more: bool


def headers_of(episode: CreatedEpisode) -> dict[str, str]:
    """Instead of an address of its own: headers for any client."""
    group = {} if episode.group is None else {"X-Whetstone-Group": episode.group}
    return {"X-Whetstone-Episode": episode.name, **group}


def _number(what: str, value: SupportsFloat) -> float:
    """Also of a bool, or a number of NumPy or PyTorch."""
    number = float(value)
    if math.isfinite(number):
        return number
    raise ValueError(f"{what} is {number}: send a finite number.")


def _numbers(what: str, values: Mapping[str, SupportsFloat] | None) -> dict[str, float] | None:
    return None if values is None else {name: _number(f"{what}[{name!r}]", value) for name, value in values.items()}


class AsyncEpisode:
    """One run of an agent. Give the agent `base_url` (or `anthropic_base_url`) and the key; then call `reward`."""

    def __init__(self, methods: "EpisodeMethods", made: CreatedEpisode) -> None:
        self._methods = methods
        self.id, self.name, self.group, self.model_id = made.id, made.name, made.group, made.model_id
        self.base_url, self.anthropic_base_url = made.base_url, made.anthropic_base_url
        self.headers = headers_of(made)

    async def reward(
        self,
        reward: SupportsFloat,
        *,
        metrics: Mapping[str, SupportsFloat] | None = None,
        turn_rewards: Mapping[str, SupportsFloat] | None = None,
        metadata: Mapping[str, Any] | None = None,
        group: str | None = None,
        status: Outcome = "completed",
    ) -> EpisodeData:
        """Ends the episode. The same reward again changes nothing; another replaces it until a job has used it.

        It is sent again through a restart of the server.
        """

        def send() -> Awaitable[EpisodeData]:
            return self._methods.reward_episode(
                self.id, reward, metrics=metrics, turn_rewards=turn_rewards, metadata=metadata, group=group, status=status
            )

        return await insist(send, attempts_max=SHORT_ATTEMPTS, is_final=is_no_outage)

    async def read(self) -> EpisodeData:
        return await self._methods.get_episode(self.id)

    def calls(self) -> AsyncIterator[EpisodeCall]:
        """All of its calls, in order."""
        return self._methods.list_episode_calls(self.id)

    async def delete(self) -> None:
        await self._methods.delete_episode(self.id)


def _online(model_id: str) -> str:
    return f"/v1/preview/models/{quote(model_id, safe='')}/online-training"


def _episode(named: str, rest: str = "") -> str:
    return f"/v1/preview/episodes/{quote(segment(named), safe='')}{rest}"


class EpisodeMethods:
    """The methods of `AsyncClient` for episodes. `named`: an id or a name; names may need `model_id`."""

    _http: Http

    async def episode(
        self,
        model: str,
        *,
        group: str | None = None,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> AsyncEpisode:
        """Begins an episode of a model (`project/name`, `entity/project/name`, or its id)."""
        # Sent again, the request finds the episode of this name.
        named = f"episode-{secrets.token_hex(9)}" if name is None else name

        async def begin() -> CreatedEpisode:
            return await self.create_episode(await self._model_id(model), group=group, name=named, metadata=metadata)

        made = await insist(begin, attempts_max=SHORT_ATTEMPTS, is_final=is_no_outage)
        return AsyncEpisode(self, made)

    async def create_episode(
        self,
        model_id: str,
        *,
        group: str | None = None,
        name: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> CreatedEpisode:
        body = {"model_id": model_id, "group": group, "name": name, "metadata": metadata}
        return await self._http.call(CreatedEpisode, "POST", "/v1/preview/episodes", body)

    async def reward_episode(
        self,
        named: str,
        reward: SupportsFloat,
        *,
        metrics: Mapping[str, SupportsFloat] | None = None,
        turn_rewards: Mapping[str, SupportsFloat] | None = None,
        metadata: Mapping[str, Any] | None = None,
        group: str | None = None,
        status: Outcome = "completed",
        model_id: str | None = None,
    ) -> EpisodeData:
        body = {
            "reward": _number("reward", reward),
            "metrics": _numbers("metrics", metrics),
            "turn_rewards": _numbers("turn_rewards", turn_rewards),
            "metadata": metadata,
            "group": group,
            "status": status,
        }
        query = {"model_id": model_id}
        return await self._http.call(EpisodeData, "POST", _episode(named, "/reward"), body, query=query)

    async def get_episode(self, named: str, *, model_id: str | None = None) -> EpisodeData:
        return await self._http.call(EpisodeData, "GET", _episode(named), query={"model_id": model_id, "limit": "1"})

    def list_episodes(
        self,
        *,
        model_id: str | None = None,
        group: str | None = None,
        status: EpisodeStatus | None = None,
        training_job_id: str | None = None,
        reward_min: float | None = None,
        reward_max: float | None = None,
        search: str | None = None,
        order: Literal["asc", "desc"] = "desc",
    ) -> AsyncIterator[EpisodeData]:
        """Newest first, unless `order` is `asc`. `search`: a text in names, metadata, messages, answers or tool calls."""
        query = {
            "model_id": model_id,
            "group": group,
            "status": status,
            "training_job_id": training_job_id,
            "reward_min": None if reward_min is None else str(reward_min),
            "reward_max": None if reward_max is None else str(reward_max),
            "search": search,
            "order": order,
        }
        return self._http.rows(EpisodeData, "/v1/preview/episodes", query)

    async def list_episode_calls(self, named: str, *, model_id: str | None = None) -> AsyncIterator[EpisodeCall]:
        after = None
        while True:
            query = {"model_id": model_id, "after": after, "limit": "100"}
            page = await self._http.call(_WithCalls, "GET", _episode(named), query=query)
            for call in page.calls:
                yield call
            if not page.has_more or not page.calls:
                return
            after = page.calls[-1].id

    def list_episode_tokens(self, named: str, *, model_id: str | None = None) -> AsyncIterator[EpisodeTokens]:
        """The tokens that were sampled, call by call."""
        return self._http.rows(EpisodeTokens, _episode(named, "/tokens"), {"model_id": model_id})

    async def delete_episode(self, named: str, *, model_id: str | None = None) -> None:
        await self._http.call(dict[str, Any], "DELETE", _episode(named), query={"model_id": model_id})

    async def set_online_training(
        self,
        model_id: str,
        *,
        groups_per_step: int | None = None,
        group_size_min: int | None = None,
        max_staleness: int | None = None,
        until_step: int | None = None,
        experimental_config: Mapping[str, Any] | None = None,
        evaluation: Mapping[str, Any] | None = None,
    ) -> OnlineTraining:
        """The server makes a job of the model whenever enough groups of episodes are complete.

        Begins it, or replaces its settings. `experimental_config` and `evaluation`: of each job, as in `submit`.
        """
        settings = {
            "groups_per_step": groups_per_step,
            "group_size_min": group_size_min,
            "max_staleness": max_staleness,
            "until_step": until_step,
            "experimental_config": experimental_config,
            "evaluation": evaluation,
        }
        body = {name: value for name, value in settings.items() if value is not None}
        return await self._http.call(OnlineTraining, "PUT", _online(model_id), body)

    async def get_online_training(self, model_id: str) -> OnlineTraining:
        """What the next step waits for."""
        return await self._http.call(OnlineTraining, "GET", _online(model_id))

    async def delete_online_training(self, model_id: str) -> None:
        """Ends it. A job that it has made runs on."""
        await self._http.call(dict[str, Any], "DELETE", _online(model_id))

    async def _model_id(self, model: str) -> str:
        parts = model.removeprefix("wandb-artifact:///").removeprefix("wandb-artifact://").split("/")
        if len(parts) == 1:
            return model
        entity = parts[-3] if len(parts) > 2 else None
        query = {"project": parts[-2], "name": parts[-1].split(":")[0].split("@")[0]}
        async for found in self._http.rows(Model, "/v1/preview/models", query):
            if entity is None or found.entity == entity:
                return found.id
        raise ValueError(f"No model {model}. Register it first, and name it project/name.")
