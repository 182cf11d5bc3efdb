"""The unmodified Tinker SDK against a running Whetstone: python check_sdk.py URL KEY MODEL KEY_OF_ANOTHER_TEAM [PART…]. Prints ok and the SDK's version.

DOCUMENTED has programs of our documents for this SDK as a JSON list: they run without a warning.
"""

import contextlib
import io
import json
import math
import os
import pickle
import sys
import warnings
from urllib.request import urlopen

import tinker
import torch
from tinker import types

url, key, model, key_of_others, *wanted = sys.argv[1:]
VERSION = tuple(int(part) for part in tinker.__version__.split(".")[:2])
service = tinker.ServiceClient(base_url=url, api_key=f"tml-{key}")


def near(a: float, b: float, tolerance: float = 1e-4) -> bool:
    return abs(a - b) <= tolerance * max(1.0, abs(a), abs(b))


def capabilities() -> None:
    served = service.get_server_capabilities().supported_models
    assert model in [each.model_name for each in served], served


def datum(tokens: list[int], weights: list[float]) -> types.Datum:
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={"target_tokens": tokens[1:], "weights": weights[1:]},
    )


TEXT = [40, 41, 42, 43, 44, 45, 46, 47]
DATA = [datum(TEXT, [1.0] * 8), datum(TEXT[:5], [0.0, 0.0, 0.5, 2.0, -0.25])]
ADAM = types.AdamParams(learning_rate=1e-2, beta1=0.9, beta2=0.95, eps=1e-8)


def trains() -> tinker.TrainingClient:
    client = service.create_lora_training_client(base_model=model, rank=4, seed=7)
    info = client.get_info()
    assert info.model_data.model_name == model and info.lora_rank == 4, info
    losses = []
    for _ in range(4):
        forward = client.forward_backward(DATA, "cross_entropy")
        step = client.optim_step(ADAM)
        result = forward.result()
        losses.append(result.metrics["loss:sum"])
        logprobs = [output["logprobs"].tolist() for output in result.loss_fn_outputs]
        assert [len(each) for each in logprobs] == [7, 4], logprobs
        weights = [[1.0] * 7, [0.0, 0.5, 2.0, -0.25]]
        total = -sum(w * p for ws, ps in zip(weights, logprobs) for w, p in zip(ws, ps))
        assert near(total, losses[-1]), (total, losses[-1])
        assert step.result() is not None
    assert losses[-1] < losses[0] - 1, losses
    return client


def forwards(client: tinker.TrainingClient) -> None:
    forward = client.forward(DATA, "cross_entropy").result()
    again = client.forward(DATA, "cross_entropy").result()
    assert near(forward.metrics["loss:sum"], again.metrics["loss:sum"])
    inputs = {
        "target_tokens": types.TensorData(data=TEXT[1:], dtype="int64"),  # without a shape
        "weights": types.TensorData(data=[1.0] * 7, dtype="float32"),
    }
    shapeless = types.Datum(model_input=types.ModelInput.from_ints(TEXT[:-1]), loss_fn_inputs=inputs)
    alone = client.forward([datum(TEXT, [1.0] * 8)], "cross_entropy").result().metrics["loss:sum"]
    assert near(client.forward([shapeless], "cross_entropy").result().metrics["loss:sum"], alone)


def samples(client: tinker.TrainingClient) -> None:
    sampler = client.save_weights_and_get_sampling_client()
    prompt = types.ModelInput.from_ints(TEXT)
    params = types.SamplingParams(max_tokens=6, temperature=1.0, seed=3)
    first = sampler.sample(prompt=prompt, num_samples=3, sampling_params=params).result()
    again = sampler.sample(prompt=prompt, num_samples=3, sampling_params=params).result()
    assert [s.tokens for s in first.sequences] == [s.tokens for s in again.sequences]
    assert all(len(s.tokens) == len(s.logprobs) for s in first.sequences)
    found = sampler.compute_logprobs(prompt).result()
    assert found[0] is None or math.isnan(found[0]), found
    trained = client.forward([datum(TEXT, [1.0] * 8)], "cross_entropy").result().loss_fn_outputs[0]["logprobs"].tolist()
    assert all(near(a, b) for a, b in zip(found[1:], trained)), (found, trained)
    stopped = sampler.sample(
        prompt=prompt,
        num_samples=1,
        sampling_params=types.SamplingParams(max_tokens=20, temperature=0.0, stop=[first.sequences[0].tokens[0]]),
    ).result()
    assert stopped.sequences[0].stop_reason in ("stop", "length")
    unstopped = sampler.sample(
        prompt=prompt, num_samples=1, sampling_params=types.SamplingParams(max_tokens=20, stop=[], seed=1)
    ).result()
    assert len(unstopped.sequences[0].tokens) == 20
    top = sampler.sample(
        prompt=prompt,
        num_samples=1,
        sampling_params=types.SamplingParams(max_tokens=1),
        include_prompt_logprobs=True,
        topk_prompt_logprobs=2,
    ).result()
    assert top.topk_prompt_logprobs[0] is None and len(top.topk_prompt_logprobs[1]) == 2, top.topk_prompt_logprobs


def copies(client: tinker.TrainingClient) -> None:
    """Opens a sampling client in another process from its pickle."""
    prompt = types.ModelInput.from_ints(TEXT)
    sampler = client.save_weights_and_get_sampling_client()
    copied = pickle.loads(pickle.dumps(sampler))
    assert copied.compute_logprobs(prompt).result()[1:] == sampler.compute_logprobs(prompt).result()[1:]
    if VERSION >= (0, 38):
        handed = tinker.SamplingClient.from_sampler_handle(sampler.get_sampler_handle(), api_key=f"tml-{key}")
        assert handed.compute_logprobs(prompt).result()[1:] == sampler.compute_logprobs(prompt).result()[1:]


def saves(client: tinker.TrainingClient) -> None:
    state = client.save_state("first").result().path
    weights = client.save_weights_for_sampler("first").result().path
    before = client.forward(DATA, "cross_entropy").result().metrics["loss:sum"]
    try:
        client.save_state("first").result()
        raise AssertionError("a name twice")
    except tinker.RequestFailedError as error:
        assert "exists already" in str(error), error
    resumed = service.create_training_client_from_state_with_optimizer(state)
    assert near(resumed.forward(DATA, "cross_entropy").result().metrics["loss:sum"], before)
    for each in (client, resumed):  # both take the same step from the same moments
        each.forward_backward(DATA, "cross_entropy").result()
        each.optim_step(ADAM).result()
    after = [each.forward(DATA, "cross_entropy").result().metrics["loss:sum"] for each in (client, resumed)]
    assert near(*after) and after[0] < before, after
    client.load_state(state).result()
    assert near(client.forward(DATA, "cross_entropy").result().metrics["loss:sum"], before)
    sampler = service.create_sampling_client(model_path=weights)
    assert sampler.compute_logprobs(types.ModelInput.from_ints(TEXT)).result()
    rest = service.create_rest_client()
    service.create_lora_training_client(base_model=model, rank=1, user_metadata={"rate": 0.5}).get_info()
    run_id = state.split("/")[2]
    listed = rest.list_checkpoints(run_id).result().checkpoints
    assert {each.checkpoint_id for each in listed} == {"weights/first", "sampler_weights/first"}, listed
    assert rest.get_training_run(run_id).result().base_model == model
    info = rest.get_weights_info_by_tinker_path(state).result()
    assert (info.lora_rank, info.train_unembed, info.train_mlp, info.train_attn) == (4, True, True, True), info
    runs = rest.list_training_runs().result().training_runs
    assert run_id in [run.training_run_id for run in runs]
    assert {"rate": "0.5"} in [run.user_metadata for run in runs], runs
    try:
        service.create_training_client_from_state_with_optimizer(weights).get_info()
        raise AssertionError("an optimizer that was not saved was loaded")
    except (tinker.BadRequestError, tinker.RequestFailedError) as error:
        assert "has no optimizer state" in str(error), error
    rest.delete_checkpoint_from_tinker_path(weights).result()
    assert len(rest.list_checkpoints(run_id).result().checkpoints) == 1


def exports(client: tinker.TrainingClient) -> None:
    path = client.save_weights_external("adapter", ttl_seconds=3600).result().path
    rest = service.create_rest_client()
    response = rest.get_external_weights_urls(path).result()
    assert set(response.urls) == {"adapter_config.json", "adapter_model.safetensors"}, response
    files = {name: urlopen(url).read() for name, url in response.urls.items()}  # without a key
    assert json.loads(files["adapter_config.json"])["r"] == 4
    length = int.from_bytes(files["adapter_model.safetensors"][:8], "little")
    assert "lora_A" in files["adapter_model.safetensors"][8 : 8 + length].decode()
    (listed,) = [c for c in rest.list_checkpoints(path.split("/")[2]).result().checkpoints if c.tinker_path == path]
    assert listed.checkpoint_type == "external" and listed.expires_at is not None, listed
    rest.set_checkpoint_ttl_from_tinker_path(path, None).result()
    rest.delete_checkpoint_from_tinker_path(path).result()
    try:
        urlopen(response.urls["adapter_config.json"])
        raise AssertionError("a deleted file was downloaded")
    except OSError as error:
        assert "404" in str(error), error


def publishes(client: tinker.TrainingClient) -> None:
    """Another team can read what is published and nothing else; only the owner can change it."""
    others = tinker.ServiceClient(base_url=url, api_key=f"tml-{key_of_others}")
    note = {"user_metadata": {"note": "for all"}} if VERSION >= (0, 30) else {}
    state = client.save_state("shared", **note).result().path
    kept = client.save_state("kept").result().path
    before = client.forward(DATA, "cross_entropy").result().metrics["loss:sum"]
    rest, theirs = service.create_rest_client(), others.create_rest_client()
    run_id = state.split("/")[2]

    def denied(attempt) -> None:
        try:
            attempt()
        except tinker.NotFoundError:
            return
        raise AssertionError("another team's weights were readable")

    denied(lambda: theirs.get_weights_info_by_tinker_path(state).result())
    denied(lambda: theirs.list_checkpoints(run_id).result())
    rest.publish_checkpoint_from_tinker_path(state).result()
    assert [each.tinker_path for each in theirs.list_checkpoints(run_id).result().checkpoints] == [state]
    (listed,) = [each for each in rest.list_checkpoints(run_id).result().checkpoints if each.public]
    assert listed.tinker_path == state and (not note or listed.user_metadata == note["user_metadata"]), listed
    assert theirs.get_weights_info_by_tinker_path(state).result().lora_rank == 4
    assert theirs.get_training_run_by_tinker_path(state, access_scope="accessible").result().base_model == model
    denied(lambda: theirs.get_training_run_by_tinker_path(state).result())
    assert [run.training_run_id for run in theirs.list_training_runs(access_scope="accessible").result().training_runs] == [run_id]
    assert theirs.list_training_runs().result().training_runs == []
    loaded = others.create_training_client_from_state_with_optimizer(state)
    assert near(loaded.forward(DATA, "cross_entropy").result().metrics["loss:sum"], before)
    sampler = others.create_sampling_client(model_path=state)
    assert sampler.compute_logprobs(types.ModelInput.from_ints(TEXT)).result()
    denied(lambda: theirs.get_weights_info_by_tinker_path(kept).result())
    denied(lambda: theirs.delete_checkpoint_from_tinker_path(state).result())
    denied(lambda: theirs.unpublish_checkpoint_from_tinker_path(state).result())
    rest.unpublish_checkpoint_from_tinker_path(state).result()
    denied(lambda: theirs.get_weights_info_by_tinker_path(state).result())
    try:
        sampler.compute_logprobs(types.ModelInput.from_ints(TEXT)).result()
        raise AssertionError("weights were readable after they became private again")
    except tinker.RequestFailedError as error:
        assert "no longer published" in str(error), error


def losses(client: tinker.TrainingClient) -> None:
    length = 7
    data = [
        types.Datum(
            model_input=types.ModelInput.from_ints(TEXT[:-1]),
            loss_fn_inputs={
                "target_tokens": TEXT[1:],
                "logprobs": [-1.0] * length,
                "advantages": [0.0, 0.0, 1.0, -0.5, 0.25, 1.0, 1.0],
            },
        )
    ]
    for name, config in (
        ("importance_sampling", None),
        ("ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}),
        ("cispo", None),
        ("dro", {"beta": 0.05}),
    ):
        result = client.forward_backward(data, name, config).result()
        assert math.isfinite(result.metrics["loss:sum"]), (name, result)
    client.optim_step(ADAM).result()
    for name, config, words in (
        ("stable_reinforce", None, "not published"),
        ("ppo", {"clip_law": 1.0}, "clip_law"),
        ("dro", None, "beta"),
    ):
        try:
            client.forward_backward(data, name, config).result()
            raise AssertionError(f"{name} was accepted")
        except tinker.RequestFailedError as error:
            assert words in str(error), error
    try:
        client.optim_step(ADAM).result()
        raise AssertionError("a step whose passes all failed succeeded")
    except tinker.RequestFailedError as error:
        assert "was not executed" in str(error), error
    client.forward_backward(data, "importance_sampling").result()
    client.optim_step(ADAM).result()


def custom(client: tinker.TrainingClient) -> None:
    """A custom loss that computes cross-entropy has the value and the gradients of the built-in loss."""

    def loss(_data, logprobs):
        total = -sum((w * p).sum() for w, p in zip(weights, logprobs))
        return total, {"mine": float(total.detach())}

    weights = [torch.tensor(each.loss_fn_inputs["weights"].tolist()) for each in DATA]
    state = client.save_state("before-custom").result().path
    result = client.forward_backward_custom(DATA, loss).result()
    norm = client.optim_step(ADAM).result().metrics["grad_norm"]
    client.load_state_with_optimizer(state).result()
    named = client.forward_backward(DATA, "cross_entropy").result()
    assert near(result.metrics["mine"], named.metrics["loss:sum"]), (result.metrics, named.metrics)
    assert near(norm, client.optim_step(ADAM).result().metrics["grad_norm"]), norm


def documented() -> None:
    """As their readers run them: with the address and the key in the environment."""
    os.environ.update(TINKER_BASE_URL=url, TINKER_API_KEY=f"tml-{key}")
    for program in json.loads(os.environ.get("DOCUMENTED", "[]")):
        printed = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(printed):
            warnings.simplefilter("error")
            exec(compile(program, "documented", "exec"), {})
        assert "'grad_norm'" in printed.getvalue(), printed.getvalue()


# Earlier SDKs request archives of exports, which do not exist.
PARTS = [forwards, samples, copies, saves, *([exports] if VERSION >= (0, 30) else []), publishes, losses, custom]


def main() -> None:
    capabilities()
    documented()
    client = trains()
    for part in PARTS:
        if part.__name__ in wanted or not wanted:
            part(client)
    base = service.create_sampling_client(base_model=model)
    assert base.compute_logprobs(types.ModelInput.from_ints(TEXT)).result()
    print("ok", tinker.__version__, flush=True)


main()
# The SDK's threads outlive the main thread and have crashed while Python shuts down, which says nothing about the server.
os._exit(0)
