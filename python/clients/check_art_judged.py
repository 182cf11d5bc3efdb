"""ART, unmodified: long loops with 24 tools over three protocols, recorded, judged by a model of the server (RULER), and trained.

python check_art_judged.py BASE_URL KEY BASE_MODEL JUDGE; prints "ok". Needs ART 0.5.23. Called by test/python/clients/art.test.ts.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

os.environ.setdefault("WANDB_MODE", "disabled")
os.environ.setdefault("WEAVE_DISABLED", "true")
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")

import art  # noqa: E402
import httpx  # noqa: E402
from art.openai import consume_chat_completion_stream  # noqa: E402
from art.rewards import ruler_score_group  # noqa: E402
from art.serverless.backend import ServerlessBackend  # noqa: E402
from art_model import trainable_model  # noqa: E402
from openai import AsyncOpenAI  # noqa: E402

ROLLOUTS = 2
TURNS = 4
SCHEMA = {"type": "object", "properties": {"city": {"enum": ["Rome", "Oslo"]}, "days": {"enum": [1, 2, 3]}}, "required": ["city"]}
NAMES = [f"tool_{number}" for number in range(24)]
SYSTEM = "You use tools."


async def chat(to: AsyncOpenAI, name: str) -> int:
    """Streamed, with a forced call in every second turn."""
    tools: Any = [{"type": "function", "function": {"name": each, "description": "A tool", "parameters": SCHEMA}} for each in NAMES]
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Begin."}]
    sampled = 0
    for turn in range(TURNS):
        choice: Any = "required" if turn % 2 == 0 else "none"
        stream = await to.chat.completions.create(
            model=name, messages=messages, tools=tools, tool_choice=choice, parallel_tool_calls=False, max_tokens=64, stream=True,
            stream_options={"include_usage": True},
        )
        answer = await consume_chat_completion_stream(stream)
        said = answer.choices[0].message
        sampled += answer.usage.completion_tokens if answer.usage else 0
        messages.append(said.model_dump(exclude_none=True))
        calls = said.tool_calls or []
        assert bool(calls) == (turn % 2 == 0), said
        messages += [{"role": "tool", "tool_call_id": call.id, "content": f"result {turn}"} for call in calls]
        if not calls:
            messages.append({"role": "user", "content": f"Go on, {turn}."})
    return sampled


async def responses(to: AsyncOpenAI, name: str) -> int:
    """Each turn continues the stored response."""
    tools: Any = [{"type": "function", "name": each, "description": "A tool", "parameters": SCHEMA, "strict": False} for each in NAMES]
    given: Any = "Begin."
    before: dict[str, Any] = {}
    sampled = 0
    for turn in range(TURNS):
        choice: Any = "required" if turn % 2 == 0 else "none"
        answer = await to.responses.create(
            model=name, instructions=SYSTEM, input=given, tools=tools, tool_choice=choice, max_output_tokens=64, **before
        )
        before = {"previous_response_id": answer.id}
        sampled += answer.usage.output_tokens if answer.usage else 0
        calls = [item for item in answer.output if item.type == "function_call"]
        assert bool(calls) == (turn % 2 == 0), answer
        results = [{"type": "function_call_output", "call_id": call.call_id, "output": f"result {turn}"} for call in calls]
        given = results or f"Go on, {turn}."
    return sampled


async def messages(to: AsyncOpenAI, name: str) -> int:
    tools = [{"name": each, "description": "A tool", "input_schema": SCHEMA} for each in NAMES]
    asked: list[Any] = [{"role": "user", "content": "Begin."}]
    sampled = 0
    async with httpx.AsyncClient(base_url=str(to.base_url), headers={"x-api-key": to.api_key}, timeout=60) as http:
        for turn in range(TURNS):
            choice = {"type": "any" if turn % 2 == 0 else "none", "disable_parallel_tool_use": True}
            body = {"model": name, "system": SYSTEM, "messages": asked, "tools": tools, "tool_choice": choice, "max_tokens": 64}
            answer = (await http.post("messages", json=body)).raise_for_status().json()
            content = answer["content"]
            sampled += answer["usage"]["output_tokens"]
            asked.append({"role": "assistant", "content": content})
            calls = [each for each in content if each["type"] == "tool_use"]
            assert bool(calls) == (turn % 2 == 0), content
            results = [{"type": "tool_result", "tool_use_id": each["id"], "content": f"result {turn}"} for each in calls]
            asked.append({"role": "user", "content": results or f"Go on, {turn}."})
    return sampled


def one(number: int, scores: list[float]) -> dict[str, Any]:
    properties = {
        "trajectory_id": {"const": str(number)},
        "explanation": {"type": "string", "maxLength": 12},
        "score": {"enum": scores},
    }
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


async def judged(group: art.TrajectoryGroup, base_url: str, key: str, judge: str) -> art.TrajectoryGroup:
    """RULER asks for one score for each trajectory. A small judge loses count, so the schema of its answer does the counting."""
    marks = [one(1, [0.1, 0.2]), *[one(number, [0.7, 0.8, 0.9]) for number in range(2, ROLLOUTS + 1)]]
    scores = {"type": "array", "prefixItems": marks, "items": False, "minItems": ROLLOUTS}
    schema = {"type": "object", "properties": {"scores": scores}, "required": ["scores"], "additionalProperties": False}
    shape = {"type": "json_schema", "json_schema": {"name": "Response", "schema": schema}}
    more = {"response_format": shape, "truncate_prompt_tokens": -1}
    asked = {"api_base": base_url, "api_key": key, "temperature": 0, "max_tokens": 300, "extra_body": more}
    scored = await ruler_score_group(group, f"hosted_vllm/{judge}", asked)
    assert scored is not None
    assert scored.trajectories[0].reward <= 0.2 and all(each.reward >= 0.7 for each in scored.trajectories[1:]), scored
    assert all(each.metrics["ruler_score"] == each.reward for each in scored.trajectories), scored
    return scored


Speak = Callable[[AsyncOpenAI, str], Awaitable[int]]


async def record(speak: Speak, to: AsyncOpenAI, name: str) -> tuple[art.Trajectory, int]:
    with art.Trajectory() as trajectory:
        sampled = await speak(to, name)
    return trajectory, sampled


def short(number: int, trajectory: art.Trajectory) -> art.Trajectory:
    """What the judge reads: the whole loop is longer than a small judge's context."""
    said = json.dumps(trajectory.exchanges.model_dump(mode="json"))[-200:]
    return art.Trajectory(
        messages_and_choices=[{"role": "user", "content": "Begin."}, {"role": "assistant", "content": f"{number} {said}"}], reward=0.0
    )


async def check(base_url: str, key: str, base_model: str, judge: str) -> None:
    backend = ServerlessBackend(api_key=key, base_url=base_url)
    model = trainable_model(name=f"judged-{os.getpid()}", project="art", base_model=base_model)
    await model.register(backend)
    to = AsyncOpenAI(base_url=base_url, api_key=key)
    for step, speak in enumerate((chat, responses, messages)):
        recorded = [await record(speak, to, model.get_inference_name()) for _ in range(ROLLOUTS)]
        loops = [loop for loop, _ in recorded]
        marks = await judged(art.TrajectoryGroup([short(n, loop) for n, loop in enumerate(loops)]), base_url, key, judge)
        for loop, mark in zip(loops, marks.trajectories, strict=True):
            loop.reward = mark.reward
        metrics = (await backend.train(model, [art.TrajectoryGroup(loops)], learning_rate=1e-5)).metrics
        name = getattr(speak, "__name__", "")
        assert await model.get_step() == step + 1, name
        assert metrics["data/step_num_groups_trainable"] == 1, (name, metrics)
        # Every token that was sampled, once; forced calls are counted, and nothing was encoded again.
        assert metrics["data/step_trainable_assistant_tokens"] == sum(sampled for _, sampled in recorded), (name, recorded, metrics)
        assert metrics["num_constrained_turns"] == ROLLOUTS * TURNS / 2, (name, metrics)
        assert metrics["num_rendered_prompts"] == 0, (name, metrics)
        assert abs(metrics["sampler_log_ratio_mean"]) < 1e-3, (name, metrics)
    await backend.delete(model)
    await backend.close()


asyncio.run(check(*sys.argv[1:5]))
print("ok")
