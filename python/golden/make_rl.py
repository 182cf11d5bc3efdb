"""Writes test/support/golden/fixtures/rl: an RL job over the tiny Qwen3 and its adapter, and PyTorch's results for it.

For each combination of options: advantages and weights, the loss, the metrics, and the norm and eight projections of every LoRA
gradient. Everything in float64, every sequence computed alone. Run through `npm run golden:make`.
"""

import json
import math

import torch
from make_models import load, lora_parameters
from peft import PeftModel
from provenance import FIXTURES, made_with
from rl_job import advantages_and_weights, row_loss

SEED = 77
PROJECTIONS = 8
REWARDS = [[1.0, 0.0, 0.25, 0.5], [0.2, 0.9, 0.2], [3.0, 3.0], [-1.0, 1.5, 0.0]]

LEVELS = ["token", "sequence", "average", "geometric_average"]
CASES: list[dict] = [
    {},
    *[{"importance_sampling_level": level, "ppo": ppo} for level in LEVELS for ppo in (False, True)],
    *[{"importance_sampling_level": level, "epsilon": 0.1, "epsilon_high": 0.2} for level in LEVELS],
    *[{"importance_sampling_level": level, "loss_fn": "ppo", "epsilon": 0.3} for level in LEVELS],
    *[{"importance_sampling_level": level, "mask_prob_ratio": True, "epsilon": 0.3, "epsilon_high": 0.4} for level in LEVELS],
    *[{"importance_sampling_level": level, "max_negative_advantage_importance_sampling_weight": 1.05} for level in LEVELS],
    {"ppo": True, "mask_prob_ratio": True, "max_negative_advantage_importance_sampling_weight": 1.1},
    {"vendor_k2_tau": 0.3},
    {"kimi_k2_tau": 0.3, "ppo": True},
    {"advantage_balance": 0.5},
    {"advantage_balance": 1.0},
    {"advantage_balance": -0.4},
    {"advantage_balance": -1.0, "ppo": True},
    {"scale_rewards": False},
    {"normalize_advantages": False, "advantage_balance": 0.2},
    {"truncated_importance_sampling": 1.1},
    {"truncated_importance_sampling": 1.1, "ppo": True, "importance_sampling_level": "sequence"},
    {"precalculate_logprobs": True},
    {"precalculate_logprobs": True, "truncated_importance_sampling": 1.05},
    {"precalculate_logprobs": True, "ppo": True, "importance_sampling_level": "geometric_average"},
    {"kl_penalty_coef": 0.2},
    {"kl_penalty_coef": 0.2, "kl_penalty_source": "current_learner"},
    {"kl_penalty_coef": 0.2, "precalculate_logprobs": True, "ppo": True},
    {"kl_penalty_step_lag": 5},
    {"kl_penalty_source": "sample", "kl_penalty_step_lag": 5},
    {
        "importance_sampling_level": "average",
        "epsilon": 0.4,
        "epsilon_high": 0.6,
        "mask_prob_ratio": True,
        "max_negative_advantage_importance_sampling_weight": 1.3,
        "vendor_k2_tau": 0.1,
        "advantage_balance": 0.3,
        "precalculate_logprobs": True,
        "truncated_importance_sampling": 1.2,
        "kl_penalty_coef": 0.1,
    },
    {
        "ppo": True,
        "importance_sampling_level": "sequence",
        "max_negative_advantage_importance_sampling_weight": 1.2,
        "vendor_k2_tau": 0.2,
        "advantage_balance": -0.3,
        "scale_rewards": False,
        "truncated_importance_sampling": 1.1,
        "kl_penalty_coef": 0.3,
        "kl_penalty_source": "current_learner",
    },
]


def make_groups(vocab: int, generator: torch.Generator) -> list[list[dict]]:
    """Siblings share a prompt; the first trajectory has three turns and a second history that leaves the first one late."""

    def draw(count: int) -> list[int]:
        return torch.randint(2, vocab, (count,), generator=generator).tolist()

    groups = []
    for rewards in REWARDS:
        prompt = draw(7)
        group = [{"reward": r, "histories": [{"prompt": prompt, "turns": [draw(4 + i)]}]} for i, r in enumerate(rewards)]
        groups.append(group)
    first = groups[0][0]["histories"]
    first[0]["turns"] += [draw(3), draw(2), draw(2), draw(5)]  # sampled, context, sampled, context, sampled
    first.append({"prompt": first[0]["prompt"] + first[0]["turns"][0] + draw(2), "turns": [draw(3)]})
    return groups


def tokens_of(history: dict) -> tuple[list[int], list[int]]:
    """Returns all tokens, and the indices of the trained ones."""
    tokens, trained = list(history["prompt"]), []
    for index, turn in enumerate(history["turns"]):
        if index % 2 == 0:
            trained += range(len(tokens), len(tokens) + len(turn))
        tokens += turn
    return tokens, trained


def evaluate(model: torch.nn.Module, histories: list[dict]) -> tuple[torch.Tensor, torch.Tensor]:
    """`[trained]` each: log-probabilities and entropies, in order of the histories."""
    logprobs, entropies = [], []
    for history in histories:
        tokens, trained = tokens_of(history)
        rows = torch.log_softmax(model(input_ids=torch.tensor([tokens])).logits[0], dim=-1)[[t - 1 for t in trained]]
        logprobs.append(rows[range(len(trained)), [tokens[t] for t in trained]])
        entropies.append(-(rows.exp() * rows).sum(-1))
    return torch.cat(logprobs), torch.cat(entropies).detach()


def sketch(gradient: torch.Tensor) -> list[float]:
    """Returns the norm, then the projections on fixed waves."""
    flat = gradient.flatten()
    index = torch.arange(1, flat.numel() + 1, dtype=torch.float64)
    waves = [torch.cos(0.7 * (k + 1) * index) for k in range(PROJECTIONS)]
    return [flat.norm().item(), *[(flat @ wave).item() for wave in waves]]


def case(config: dict, model: PeftModel, groups: list[list[dict]]) -> dict:
    signals = advantages_and_weights(groups, config)
    trajectories = [trajectory for group in groups for trajectory in group]
    kept = [(t, s) for t, s in zip(trajectories, signals, strict=True) if s]
    histories = [history for trajectory, _ in kept for history in trajectory["histories"]]
    counts = [sum(map(len, history["turns"][::2])) for history in histories]
    sequence = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))

    def spread(name: str) -> torch.Tensor:
        per_history = [s[name] for trajectory, s in kept for _ in trajectory["histories"]]
        return torch.tensor(per_history, dtype=torch.float64)[sequence]

    new, entropy = evaluate(model, histories)
    with torch.no_grad(), model.disable_adapter():
        reference = evaluate(model, histories)[0]
    rows = {name: torch.tensor([x for h in histories for x in h[name]], dtype=torch.float64) for name in ("sampled", "start")}
    loss, metrics = row_loss(
        new, entropy, sequence, spread("advantage"), spread("weight"), rows["sampled"], rows["start"], reference, config
    )
    parameters = lora_parameters(model)
    gradients = torch.autograd.grad(loss, list(parameters.values()))
    return {
        "config": config,
        "signals": [None if s is None else [s["advantage"], s["weight"]] for s in signals],
        "loss": loss.item(),
        "metrics": {name: value.item() for name, value in metrics.items()},
        "gradients": {name: sketch(g) for name, g in zip(parameters, gradients, strict=True)},
    }


def rounded(value):
    """Rounds to enough digits for 1e-5, few enough to be readable."""
    if isinstance(value, float):
        return value if math.isnan(value) else float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    torch.set_num_threads(1)
    source = FIXTURES / "qwen3"
    model = PeftModel.from_pretrained(load(source / "model"), source / "adapter", is_trainable=True).double().eval()
    generator = torch.Generator().manual_seed(SEED)
    groups = make_groups(model.config.vocab_size, generator)
    for history in [history for group in groups for t in group for history in t["histories"]]:
        logprobs = evaluate(model, [history])[0].detach()
        history["trainer"] = rounded(logprobs.tolist())
        noise = torch.randn(2, len(logprobs), generator=generator).double()
        # In the format that the client sends: float32, and sometimes none.
        history["sampled"] = (logprobs + 0.35 * noise[0]).float().tolist()
        history["start"] = (logprobs + 0.15 * noise[1]).float().tolist()
    groups[0][0]["histories"][0]["sampled"][2] = math.nan
    groups[3][1]["histories"][0]["sampled"][:2] = [math.nan, math.nan]

    cases = [case(config, model, groups) for config in CASES]
    expected = {
        "madeWith": made_with("torch", "transformers", "peft"),
        "arithmetic": "float64, every sequence alone",
        "tolerance": 1e-5,  # relative: of the loss, of each metric, of each gradient to its norm
        "groups": [
            [
                {
                    "reward": t["reward"],
                    "histories": [
                        {**h, "sampled": [None if math.isnan(x) else x for x in h["sampled"]]} for h in t["histories"]
                    ],
                }
                for t in group
            ]
            for group in groups
        ],
        "cases": [rounded(c) for c in cases],
    }
    directory = FIXTURES / "rl"
    directory.mkdir(exist_ok=True)
    (directory / "expected.json").write_text(json.dumps(expected, allow_nan=False) + "\n")
    print("rl:", len(cases), "combinations")


if __name__ == "__main__":
    main()
