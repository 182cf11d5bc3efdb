"""Writes test/support/golden/fixtures/tinker: the losses of the Tinker protocol over the tiny Qwen3 and its adapter, as PyTorch computes them.

For each loss and its settings: the log-probability of every target, the loss, and the norm and eight projections of every LoRA
gradient; and the same for a sum of several losses over data of many lengths. The formulas are those of the protocol's
documentation, sums over all places. Everything in float64, every datum computed alone. Run through `npm run golden:make`.
"""

import json

import torch
from make_models import load, lora_parameters, random_tokens
from make_rl import rounded, sketch
from peft import PeftModel
from provenance import FIXTURES, made_with

SEED = 91
POLICY_CASES: list[tuple[str, dict[str, float]]] = [
    ("importance_sampling", {}),
    ("ppo", {}),
    ("ppo", {"clip_low_threshold": 0.95, "clip_high_threshold": 1.02}),
    ("cispo", {}),
    ("cispo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}),
    ("dro", {"beta": 0.05}),
    ("dro", {"beta": 0.8}),
    ("gspo", {}),
    ("gspo", {"clip_low_threshold": 0.97, "clip_high_threshold": 1.05}),
]
# The accumulated calls of forward_backward before one step: (data, loss, settings) each.
VARIED_SUM: list[tuple[str, str, dict[str, float]]] = [
    ("one target", "cross_entropy", {}),
    ("policy", "importance_sampling", {}),
    ("three targets", "cross_entropy", {}),
    ("policy", "ppo", {"clip_low_threshold": 0.95, "clip_high_threshold": 1.02}),
    ("policy", "gspo", {}),
    ("many lengths", "cross_entropy", {}),
    ("policy", "cispo", {}),
    ("policy", "dro", {"beta": 0.8}),
]
DEFAULTS = {
    "ppo": {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2},
    "cispo": {"clip_low_threshold": 0.0, "clip_high_threshold": 4.0},
    "gspo": {"clip_low_threshold": 0.8, "clip_high_threshold": 1.2},
}


def objective(loss: str, p: torch.Tensor, datum: dict, config: dict[str, float]) -> torch.Tensor:
    """`[places]`: the objective, to be maximised. `p`: log-probabilities of the targets."""
    if loss == "cross_entropy":
        return datum["weights"] * p
    q, advantages = datum["logprobs"], datum["advantages"]
    settings = {**DEFAULTS.get(loss, {}), **config}
    ratio = torch.exp(p - q)
    if loss == "importance_sampling":
        return ratio * advantages
    if loss == "dro":
        return p * advantages - 0.5 * settings["beta"] * (p - q) ** 2
    if loss == "gspo":  # arXiv:2507.18071 eq. 12, over the places of the mask
        mean = (p - q).detach()[datum["sequence_ratio_mask"] != 0].mean()
        ratio = torch.exp(mean + p - p.detach())
    bounded = torch.clamp(ratio, settings["clip_low_threshold"], settings["clip_high_threshold"])
    if loss == "cispo":
        return bounded.detach() * p * advantages
    return torch.minimum(ratio * advantages, bounded * advantages)


def target_logprobs(model: torch.nn.Module, datum: dict) -> torch.Tensor:
    """`[places]`, or `[places, K]` if there are several targets at each place."""
    rows = torch.log_softmax(model(input_ids=torch.tensor([datum["tokens"]])).logits[0], dim=-1)
    targets = torch.tensor(datum["target_tokens"])
    found = rows.gather(1, targets.reshape(len(targets), -1))
    return found.reshape(targets.shape)


def make_policy_data(model: torch.nn.Module, vocab: int, generator: torch.Generator) -> list[dict]:
    """Two completions of one prompt, in the second of which only parts count in the sequence's ratio; and one with other targets."""
    prompt = random_tokens(9, vocab, generator)
    data = []
    for length, drift in ((8, 0.12), (13, -0.08)):
        completion = random_tokens(length, vocab, generator)
        filler = [0] * (len(prompt) - 1)
        data.append({"tokens": prompt + completion[:-1], "target_tokens": filler + completion, "trained": length, "drift": drift})
    data.append({"tokens": random_tokens(7, vocab, generator), "target_tokens": random_tokens(7, vocab, generator), "trained": 7, "drift": 0.04})
    for datum in data:
        trained, drift = datum.pop("trained"), datum.pop("drift")
        before = len(datum["tokens"]) - trained
        p = target_logprobs(model, datum).detach()
        noise = 0.1 * torch.randn(trained, generator=generator).double() + drift
        shown = torch.cat([torch.zeros(before).double(), p[before:] - noise])
        advantages = torch.randn(trained, generator=generator)
        mask = [0.0] * before + [1.0] * trained
        if trained == 13:
            mask[before + 4 : before + 7] = [0.0] * 3
        datum["logprobs"] = shown.float().tolist()
        datum["advantages"] = [0.0] * before + advantages.tolist()
        datum["sequence_ratio_mask"] = mask
    return data


def make_weighted_data(vocab: int, generator: torch.Generator, width: int | None, lengths: tuple[int, ...] = (5, 8)) -> list[dict]:
    prompt = random_tokens(6, vocab, generator)
    data = []
    for length in lengths:
        tokens = prompt + random_tokens(length, vocab, generator)
        shape = (len(tokens),) if width is None else (len(tokens), width)
        targets = torch.randint(2, vocab, shape, generator=generator)
        data.append({"tokens": tokens, "target_tokens": targets.tolist(), "weights": (torch.randn(shape, generator=generator) + 0.5).tolist()})
    return data


def inputs_of(loss: str) -> list[str]:
    if loss == "cross_entropy":
        return ["weights"]
    return ["logprobs", "advantages"] + (["sequence_ratio_mask"] if loss == "gspo" else [])


def total(model: PeftModel, loss: str, config: dict[str, float], data: list[dict]) -> tuple[torch.Tensor, list[list[float]]]:
    """Returns the loss, and log-probabilities `[datum][places · K]`."""
    logprobs, terms = [], []
    for datum in data:
        p = target_logprobs(model, datum)
        inputs = {name: torch.tensor(datum[name], dtype=torch.float64) for name in inputs_of(loss)}
        logprobs.append(p.flatten().tolist())
        terms.append(-objective(loss, p, inputs, config).sum())
    return torch.stack(terms).sum(), logprobs


def gradients_of(model: PeftModel, value: torch.Tensor) -> dict[str, list[float]]:
    parameters = lora_parameters(model)
    gradients = torch.autograd.grad(value, list(parameters.values()))
    return {name: sketch(g) for name, g in zip(parameters, gradients, strict=True)}


def case(model: PeftModel, loss: str, config: dict[str, float], data: list[dict]) -> dict:
    value, logprobs = total(model, loss, config, data)
    described = {"loss": loss, "config": config, "inputs": inputs_of(loss), "value": value.item(), "logprobs": logprobs}
    return {**described, "gradients": gradients_of(model, value)}


def varied_sum(model: PeftModel, data: dict[str, list[dict]]) -> dict:
    parts = [{"data": name, "loss": loss, "config": config, "inputs": inputs_of(loss)} for name, loss, config in VARIED_SUM]
    value = torch.stack([total(model, loss, config, data[name])[0] for name, loss, config in VARIED_SUM]).sum()
    return {"parts": parts, "value": value.item(), "gradients": gradients_of(model, value)}


def main() -> None:
    torch.set_num_threads(1)
    source = FIXTURES / "qwen3"
    model = PeftModel.from_pretrained(load(source / "model"), source / "adapter", is_trainable=True).double().eval()
    generator = torch.Generator().manual_seed(SEED)
    vocab = model.config.vocab_size
    policy = make_policy_data(model, vocab, generator)
    weighted = {"one target": make_weighted_data(vocab, generator, None), "three targets": make_weighted_data(vocab, generator, 3)}
    cases = []
    for name, data in weighted.items():
        cases.append({"data": name, **case(model, "cross_entropy", {}, data)})
    for loss, config in POLICY_CASES:
        cases.append({"data": "policy", **case(model, loss, config, policy)})
    data = {"policy": policy, **weighted, "many lengths": make_weighted_data(vocab, generator, None, (1, 40, 3, 17, 64, 2))}
    summed = varied_sum(model, data)
    expected = {
        "madeWith": made_with("torch", "transformers", "peft"),
        "arithmetic": "float64, every datum alone",
        "tolerance": 1e-5,  # relative: of the loss, of log-probabilities to the largest, of each gradient to its norm
        "data": rounded(data),
        "cases": [{**c, "value": rounded(c["value"]), "logprobs": rounded(c["logprobs"]), "gradients": rounded(c["gradients"])} for c in cases],
        "sum": {**summed, "value": rounded(summed["value"]), "gradients": rounded(summed["gradients"])},
    }
    directory = FIXTURES / "tinker"
    directory.mkdir(exist_ok=True)
    (directory / "expected.json").write_text(json.dumps(expected, allow_nan=False) + "\n")
    print("tinker:", len(cases), "losses")


if __name__ == "__main__":
    main()
