"""The training API of a Whetstone server, one method per operation. `Client` is the same for synchronous code."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from whetstone_client import artifact_files
from whetstone_client.answers import chunks_of, parse_answer, segment, visible
from whetstone_client.early_stopping import Evaluated, gain_of
from whetstone_client.episodes import EpisodeMethods
from whetstone_client.errors import ApiError, TrainingFailedError
from whetstone_client.http import ANSWER_BYTES_MAX, TIMEOUT_S, Http
from whetstone_client.models import ModelMethods, model_path
from whetstone_client.retry import OnConnection, insist, is_refusal, pause_before
from whetstone_client.runs import RunMethods
from whetstone_client.sse import read_events
from whetstone_client.usage import UsageMethods
from whetstone_client.wire import (
    Answer,
    AnsweredPrompt,
    Artifact,
    ChatCompletion,
    Checkpoint,
    DpoJob,
    Evaluation,
    HistoryStep,
    RlJob,
    SftJob,
    TrainingEvent,
    TrainingJob,
    TrainingProgress,
    TrajectoryGroup,
)

T = TypeVar("T")

_log = logging.getLogger("whetstone_client")
OnEvent = Callable[[TrainingEvent], None]
OnProgress = Callable[[TrainingProgress], None]

_HOUR = 3600.0
_LOOK_AGAIN_S, _LOOK_AGAIN_S_MAX = 0.25, 2.0  # evaluations have no stream of events


class _Delta(BaseModel):
    content: str | None = None


class _ChunkChoice(BaseModel):
    delta: _Delta = _Delta()


class _Chunk(BaseModel):
    error: dict[str, Any] | None = None
    choices: list[_ChunkChoice] = []


def _job(job_id: str) -> str:
    return f"/v1/preview/training-jobs/{quote(segment(job_id), safe='')}"


async def _within(deadline_s: float, waiting: Awaitable[T], what: str) -> T:
    try:
        return await asyncio.wait_for(waiting, deadline_s)
    except asyncio.TimeoutError as error:
        raise TimeoutError(f"{what} did not end within {deadline_s:g} s; it continues on the server.") from error


class AsyncClient(ModelMethods, EpisodeMethods, RunMethods, UsageMethods):
    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        answer_bytes_max: int = ANSWER_BYTES_MAX,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """The address and the key default to `WHETSTONE_URL` and `WHETSTONE_API_KEY`.

        `timeout_s` limits one request, of streams and downloads only until they begin. `answer_bytes_max` is the longest
        answer that is read; streams and downloads have their own bounds.
        """
        self._http = Http(base_url, api_key, transport, timeout_s, answer_bytes_max)

    async def close(self) -> None:
        await self._http.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        await self.close()

    # Checkpoints

    def list_checkpoints(self, model_id: str, *, order: Literal["asc", "desc"] = "asc") -> AsyncIterator[Checkpoint]:
        return self._http.rows(Checkpoint, f"{model_path(model_id)}/checkpoints", {"order": order})

    async def best_checkpoint(self, model_id: str, metric: str, *, greater_is_better: bool = True) -> Evaluated | None:
        """Returns the oldest checkpoint with the best value of a metric such as `val/reward`. None: no checkpoint has it."""
        best: Evaluated | None = None
        async for checkpoint in self.list_checkpoints(model_id):
            value = checkpoint.metrics.get(metric)
            if value is not None and gain_of(value, best, greater_is_better) > 0:
                best = Evaluated(checkpoint.step, value)
        return best

    async def delete_checkpoints(self, model_id: str, steps: Sequence[int]) -> None:
        await self._http.call(dict[str, Any], "DELETE", f"{model_path(model_id)}/checkpoints", {"steps": list(steps)})

    async def download_checkpoint(
        self, model_id: str, step: int | None, file: Path | str, *, on_connection: OnConnection | None = None
    ) -> None:
        """Downloads a tar with a PEFT directory; step None: the latest. Resumes after a lost connection, and after the data
        of an earlier call that was interrupted. `on_connection` is that of `follow`.
        """
        if step is None:
            newest = [each.step async for each in self.list_checkpoints(model_id)][-1:]
            step = newest[0] if newest else None  # pinned, because the latest may change before a download resumes
        path = f"{model_path(model_id)}/checkpoints/{'latest' if step is None else step}/download"
        await artifact_files.save(self._http, path, Path(file), on_connection)

    def list_history(self, model_id: str) -> AsyncIterator[HistoryStep]:
        """Yields the metrics of each step."""
        return self._http.rows(HistoryStep, f"{model_path(model_id)}/metrics")

    # Chat

    async def chat(self, /, messages: Sequence[Mapping[str, Any]], **fields: Any) -> ChatCompletion:
        """`fields`: those of the openai package, such as `model`, `n`, `temperature`, `max_tokens`, `seed`, `tools`."""
        body = {**fields, "messages": messages, "stream": False}
        return await self._http.call(ChatCompletion, "POST", "/v1/chat/completions", body)

    async def chat_stream(self, /, messages: Sequence[Mapping[str, Any]], **fields: Any) -> AsyncIterator[str]:
        """Yields the text of the first choice piece by piece, for an hour at most."""
        body = {**fields, "messages": messages, "stream": True}
        async with self._http.stream("POST", "/v1/chat/completions", json=body) as response:
            async for _, data in read_events(chunks_of(response, time.monotonic() + _HOUR)):
                if data == "[DONE]":
                    return
                chunk = parse_answer(_Chunk, data)
                if chunk.error:
                    message = visible(str(chunk.error.get("message")))
                    raise ApiError(200, message, chunk.error.get("code"), response.headers.get("x-request-id"), None)
                if chunk.choices and (content := chunk.choices[0].delta.content):
                    yield content

    # Jobs

    async def submit(self, job: RlJob | SftJob | DpoJob, *, idempotency_key: str | None = None) -> str:
        """Returns the id of the job. The same idempotency key returns the same job."""
        kind = "" if isinstance(job, RlJob) else "dpo-" if isinstance(job, DpoJob) else "sft-"
        path = f"/v1/preview/{kind}training-jobs"
        headers = {} if idempotency_key is None else {"idempotency-key": idempotency_key}
        return (await self._http.call(dict[str, Any], "POST", path, job, headers=headers))["id"]  # type: ignore[no-any-return]

    async def train(
        self,
        job: RlJob | SftJob | DpoJob,
        *,
        on_submitted: Callable[[str], None] | None = None,
        on_event: OnEvent | None = None,
        on_progress: OnProgress | None = None,
        on_connection: OnConnection | None = None,
        deadline_s: float = _HOUR,
    ) -> TrainingJob:
        """Submits a job and follows it. Returns when the new checkpoint can be used. The callbacks are those of `follow`."""
        key = str(uuid.uuid4())
        job_id = await _within(
            deadline_s, insist(lambda: self.submit(job, idempotency_key=key), on_connection), "Submitting the job"
        )
        if on_submitted:
            on_submitted(job_id)
        return await self.follow(
            job_id, on_event=on_event, on_progress=on_progress, on_connection=on_connection, deadline_s=deadline_s
        )

    async def follow(
        self,
        job_id: str,
        *,
        on_event: OnEvent | None = None,
        on_progress: OnProgress | None = None,
        on_connection: OnConnection | None = None,
        deadline_s: float = _HOUR,
    ) -> TrainingJob:
        """Reports the progress of a job through callbacks and returns the finished job.

        Waits through lost connections and restarts of the server; `on_connection` is called with the error after each failed
        attempt, and with None when a retry succeeds. Raises TrainingFailedError if the job fails, and TimeoutError after the
        deadline, while the job continues. The server's warnings, such as that nothing could be trained, and what the job waits
        behind are logged by the logger `whetstone_client`.
        """

        async def hear() -> TrainingJob:
            total = 0
            async for event in self.follow_events(job_id, on_connection=on_connection):
                if on_event:
                    on_event(event)
                for warning in event.data.get("warnings", []):
                    _log.warning("job %s: %s", job_id, visible(str(warning)))
                if event.type == "training_started":
                    total = event.data.get("num_gradient_steps", event.data.get("num_sequences", 0))
                if event.type == "gradient_step" and on_progress:
                    metrics = {**event.data}
                    on_progress(TrainingProgress(done=metrics.pop("gradient_step", 0), total=total, metrics=metrics))
                if event.type == "training_waiting":
                    waits: Any = event.data.get("waiting_for")
                    said = waits.get("message") if isinstance(waits, dict) else waits
                    _log.info("job %s: %s", job_id, visible(str(said)))
                if event.type == "training_failed":
                    raise TrainingFailedError(visible(str(event.data.get("error_message") or "training failed")))
            return await insist(lambda: self.get_training_job(job_id), on_connection)

        return await _within(deadline_s, hear(), f"Job {job_id}")

    async def follow_events(self, job_id: str, *, on_connection: OnConnection | None = None) -> AsyncIterator[TrainingEvent]:
        """Yields events from the start, and resumes after a lost connection. Ends with the job."""
        last_id: str | None = None
        attempt = 1
        while True:
            lost: Exception = ConnectionError("the stream of events ended before the job did")
            headers = {"accept": "text/event-stream", **({} if last_id is None else {"last-event-id": last_id})}
            try:
                async with self._http.stream("GET", f"{_job(job_id)}/events", headers=headers) as response:
                    if attempt > 1 and on_connection:
                        on_connection(None)
                    async for event_id, data in read_events(chunks_of(response)):
                        if event_id is None:
                            continue  # the server reports an internal error: connect again below
                        last_id, attempt = event_id, 1
                        event = parse_answer(TrainingEvent, data)
                        yield event
                        if event.type in ("training_ended", "training_failed"):
                            return
            except (ApiError, httpx.TransportError) as error:
                if is_refusal(error):
                    raise
                lost = error
            if on_connection:
                on_connection(lost)
            await pause_before(attempt, lost)
            attempt += 1

    async def get_training_job(self, job_id: str) -> TrainingJob:
        return await self._http.call(TrainingJob, "GET", _job(job_id))

    def list_training_jobs(
        self,
        model_id: str | None = None,
        status: str | None = None,
        *,
        kind: Literal["rl", "sft", "dpo"] | None = None,
        search: str | None = None,
        order: Literal["asc", "desc"] = "asc",
    ) -> AsyncIterator[TrainingJob]:
        """`search`: a text in the model's `project/name`."""
        query = {"model_id": model_id, "status": status, "type": kind, "search": search, "order": order}
        return self._http.rows(TrainingJob, "/v1/preview/training-jobs", query)

    def list_events(self, job_id: str) -> AsyncIterator[TrainingEvent]:
        return self._http.rows(TrainingEvent, f"{_job(job_id)}/events")

    async def cancel_training_job(self, job_id: str) -> TrainingJob:
        return await self._http.call(TrainingJob, "POST", f"{_job(job_id)}/cancel")

    # Evaluation

    async def wait_for_evaluation(self, job_id: str, *, deadline_s: float = _HOUR) -> Evaluation | None:
        """Waits until the job's checkpoint has answered its held-out prompts. Returns None if the job has none."""

        async def look() -> Evaluation | None:
            pause_s = _LOOK_AGAIN_S
            while True:
                evaluation = (await insist(lambda: self.get_training_job(job_id))).evaluation
                if evaluation is None or evaluation.status not in ("queued", "running"):
                    return evaluation
                await asyncio.sleep(pause_s)
                pause_s = min(_LOOK_AGAIN_S_MAX, 2 * pause_s)

        return await _within(deadline_s, look(), f"The evaluation of job {job_id}")

    def list_evaluation_answers(self, job_id: str) -> AsyncIterator[AnsweredPrompt]:
        return self._http.rows(AnsweredPrompt, f"{_job(job_id)}/evaluation/answers")

    async def reward_answers(
        self, job_id: str, reward: Callable[[Answer, AnsweredPrompt], float], *, deadline_s: float = _HOUR
    ) -> float | None:
        """Waits for the answers, logs the reward of each, and returns their mean. None: there are no answers."""
        evaluation = await self.wait_for_evaluation(job_id, deadline_s=deadline_s)
        if evaluation and evaluation.status == "failed":
            raise RuntimeError(f"The evaluation failed: {evaluation.error_message}")
        groups = [
            {
                "trajectories": [
                    {"messages_and_choices": [], "reward": reward(answer, prompt)} for answer in prompt.answers or []
                ]
            }
            async for prompt in self.list_evaluation_answers(job_id)
        ]
        if not any(group["trajectories"] for group in groups):
            return None
        job = await self.get_training_job(job_id)
        body = {"split": "val", "evaluation_job_id": job_id, "trajectory_groups": groups}
        logged = await self._http.call(dict[str, Any], "POST", f"{model_path(job.model_id)}/log", body)
        return float(logged["metrics"]["val/reward"])

    async def log(
        self, model_id: str, split: str, trajectory_groups: Sequence[TrajectoryGroup], step: int | None = None
    ) -> None:
        groups = [group.model_dump(mode="json", exclude_none=True) for group in trajectory_groups]
        body = {"split": split, "trajectory_groups": groups, **({} if step is None else {"step": step})}
        await self._http.call(dict[str, Any], "POST", f"{model_path(model_id)}/log", body)

    # Artifacts

    def list_artifacts(
        self,
        project: str | None = None,
        name: str | None = None,
        *,
        kind: str | None = None,
        sort: Literal["created", "project", "name", "type", "files", "size"] | None = None,
        order: Literal["asc", "desc"] | None = None,
    ) -> AsyncIterator[Artifact]:
        """Oldest first, unless `sort` or `order` says otherwise."""
        query = {"project": project, "name": name, "type": kind, "sort": sort, "order": order}
        return self._http.rows(Artifact, "/v1/artifacts", query)

    async def get_artifact(self, name: str) -> Artifact:
        """`name`: `entity/project/name`, with `:vN`, `:alias`, or a model's `:stepN`."""
        return await artifact_files.get(self._http, name)

    async def push_artifact(
        self,
        name: str,
        source: Path | str,
        *,
        kind: str = "dataset",
        aliases: Sequence[str] = (),
        on_connection: OnConnection | None = None,
    ) -> Artifact:
        """Pushes a file or directory as the next version of `project/name`. SFT jobs take its `uri` as `training_data_url`.

        Sends a file again after a lost connection; `on_connection` is that of `follow`.
        """
        return await artifact_files.push(self._http, name, Path(source), kind, aliases, on_connection)

    async def pull_artifact(self, name: str, directory: Path | str, *, on_connection: OnConnection | None = None) -> Artifact:
        """Downloads the artifact's files. Does not download files that already exist.

        Resumes after a lost connection; `on_connection` is that of `follow`.
        """
        return await artifact_files.pull(self._http, name, Path(directory), on_connection)
