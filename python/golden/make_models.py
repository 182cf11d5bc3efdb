"""Writes test/support/golden/fixtures/<family>: a tiny model, a PEFT adapter, and PyTorch's results for both.

Logits of three sequences with and without the adapter; loss and the gradient of every LoRA matrix for cross-entropy,
CISPO and PPO; ten AdamW steps. Float32, eager attention, one thread. Run through `npm run golden:make`.
"""

import json
import shutil
from pathlib import Path

import torch
from families import Family, randomize, wanted_families
from losses import cross_entropy, policy_loss
from peft import LoraConfig, PeftModel, get_peft_model
from provenance import FIXTURES, made_with
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

TOLERANCE = {
    "logits": 1e-4,  # absolute
    "logprobs": 1e-4,  # absolute, nats
    "loss": 1e-4,  # relative
    "gradient": 1e-4,  # relative to the largest element of the tensor
    "adamwLosses": 1e-4,  # absolute
    "gradNorm": 1e-4,  # relative
    "adamwFinal": 5e-5,  # absolute; a tenth of one step: where a gradient is almost 0, Adam turns rounding into a move
}
LORA_TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
ATTENTION_TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj"]  # of models with experts
FUSED_TARGETS = ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]
CLIP = {
    "cispo": {"ppo": False, "epsilon": 1.0, "epsilon_high": 4.0},
    "ppo": {"ppo": True, "epsilon": 0.2, "epsilon_high": 0.2},
}
ADAMW = {"lr": 5e-4, "betas": (0.9, 0.99), "eps": 1e-8, "weight_decay": 0.1}
MAX_GRAD_NORM = 0.1
STEPS = 10


def random_tokens(count: int, vocab: int, generator: torch.Generator) -> list[int]:
    return torch.randint(2, vocab, (count,), generator=generator).tolist()


def load(directory: Path, attention: str = "eager") -> torch.nn.Module:
    return AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32, attn_implementation=attention).eval()


def logits_of(model: torch.nn.Module, tokens: list[int]) -> torch.Tensor:
    """`[seq, vocab]`"""
    return model(input_ids=torch.tensor([tokens])).logits[0]


def batch_logits(model: torch.nn.Module, sequences: list[list[int]]) -> list[torch.Tensor]:
    """Computes the sequences as one right-padded batch; returns them without the padding's rows."""
    longest = max(map(len, sequences))
    ids = torch.tensor([tokens + [0] * (longest - len(tokens)) for tokens in sequences])
    mask = torch.tensor([[1] * len(tokens) + [0] * (longest - len(tokens)) for tokens in sequences])
    logits = model(input_ids=ids, attention_mask=mask).logits
    return [logits[row, : len(tokens)] for row, tokens in enumerate(sequences)]


def all_logits(model: torch.nn.Module, sequences: dict[str, list[int]]) -> dict[str, torch.Tensor]:
    short, longer = batch_logits(model, [sequences["short"], sequences["longer"]])
    return {"short": short, "longer": longer, "forty": logits_of(model, sequences["forty"])}


def trained_logprobs(model: torch.nn.Module, training: dict) -> torch.Tensor:
    """`[trained]`: the log-probabilities of the trained tokens, completion by completion, each given all tokens before it."""
    parts = []
    for completion, trained in zip(training["completions"], training["trained"], strict=True):
        tokens = training["prompt"] + completion
        logprobs = torch.log_softmax(logits_of(model, tokens), dim=-1)
        targets = [len(training["prompt"]) + index for index, flag in enumerate(trained) if flag]
        parts.append(logprobs[[target - 1 for target in targets], [tokens[target] for target in targets]])
    return torch.cat(parts)


def saved_name(parameter_name: str) -> str:
    """Returns the names and tensors of adapter_model.safetensors."""
    return parameter_name.replace(".default.", ".")


def lora_parameters(model: PeftModel) -> dict[str, torch.nn.Parameter]:
    return {saved_name(name): p for name, p in model.named_parameters() if p.requires_grad}


def gradients_of(model: PeftModel, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    parameters = lora_parameters(model)
    return dict(zip(parameters, torch.autograd.grad(loss, list(parameters.values())), strict=True))


def full_gradient_norm(model: torch.nn.Module, training: dict) -> dict[str, float]:
    """Returns the cross-entropy of the base model and the global norm of its gradient over all weights; tied ones count once."""
    loss = cross_entropy(trained_logprobs(model, training))
    gradients = torch.autograd.grad(loss, list(model.parameters()))
    return {"loss": loss.item(), "gradNorm": torch.nn.utils.get_total_norm(gradients).item()}


def add_random_adapter(model: torch.nn.Module, generator: torch.Generator) -> PeftModel:
    targets = {"phi3": FUSED_TARGETS, "qwen3_moe": ATTENTION_TARGETS, "mixtral": ATTENTION_TARGETS}.get(
        model.config.model_type, LORA_TARGETS
    )
    config = LoraConfig(r=4, lora_alpha=8, lora_dropout=0.0, target_modules=targets, task_type="CAUSAL_LM")
    peft_model = get_peft_model(model, config)
    with torch.no_grad():
        for parameter in lora_parameters(peft_model).values():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4 / parameter.shape[1] ** 0.5)
    return peft_model


def save_adapter(model: PeftModel, directory: Path, save_embedding_layers: bool = False) -> None:
    model.peft_config["default"].base_model_name_or_path = "tiny"  # not the path on this machine
    model.save_pretrained(directory, save_embedding_layers=save_embedding_layers)
    (directory / "README.md").unlink(missing_ok=True)
    config = json.loads((directory / "adapter_config.json").read_text())
    config["target_modules"].sort()  # PEFT writes a set, whose order differs from run to run
    write_json(directory / "adapter_config.json", config)


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")


def write_config_before_v5(model_directory: Path, target: Path) -> None:
    """Returns the config in the format of transformers 4, which most models on the Hub have."""
    config = json.loads((model_directory / "config.json").read_text())
    rope = config.pop("rope_parameters")
    if "full_attention" in rope:  # by kind of layer
        local = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
        if config["model_type"] == "gemma3_text":
            config["rope_local_base_freq"] = local
    config["rope_theta"] = rope.pop("rope_theta")
    if "partial_rotary_factor" in rope:
        config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    if config["model_type"] == "phi3":
        rope.pop("original_max_position_embeddings", None)  # stored next to max_position_embeddings in this format
    config["rope_scaling"] = None if rope == {"rope_type": "default"} else rope
    if config["model_type"] == "qwen3_moe":
        config["num_experts"] = config.pop("num_local_experts")
    config["torch_dtype"] = config.pop("dtype")
    config["transformers_version"] = "4.51.0"
    write_json(target, config)


def training_case(vocab: int, generator: torch.Generator) -> dict:
    """Two completions of one prompt; the second has an untrained gap, like a tool's result."""
    return {
        "prompt": random_tokens(9, vocab, generator),
        "completions": [random_tokens(7, vocab, generator), random_tokens(12, vocab, generator)],
        "trained": [[True] * 7, [True] * 4 + [False] * 3 + [True] * 5],
    }


def policy_inputs(new: torch.Tensor, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Returns old log-probabilities with ratios inside, below and above both clip ranges."""
    drift = 0.4 * torch.randn(new.shape, generator=generator)
    drift[[2, 9]] = 2.0  # ratio 7.4, above the 5 of CISPO
    return {
        "old_logprobs": (new - drift).detach(),
        "advantages": torch.randn(new.shape, generator=generator),
        "weights": 0.5 + torch.rand(new.shape, generator=generator),
    }


def ten_steps(model: PeftModel, training: dict, inputs: dict[str, torch.Tensor]) -> dict[str, list[float]]:
    """Updates the adapter. Losses and norms are those before each update; norms are not clipped."""
    parameters = list(lora_parameters(model).values())
    optimizer = torch.optim.AdamW(parameters, **ADAMW)
    losses, grad_norms = [], []
    for _ in range(STEPS):
        loss = policy_loss(trained_logprobs(model, training), **inputs, **CLIP["cispo"])
        optimizer.zero_grad()
        loss.backward()
        grad_norms.append(torch.nn.utils.clip_grad_norm_(parameters, MAX_GRAD_NORM).item())
        optimizer.step()
        losses.append(loss.item())
    return {"losses": losses, "gradNorms": grad_norms}


def make(family: Family) -> None:
    directory = FIXTURES / family.name
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    generator = torch.Generator().manual_seed(family.seed + 1000)

    model = AutoModelForCausalLM.from_config(family.config)
    randomize(model, family.seed)
    model.to(family.dtype).save_pretrained(directory / "model", max_shard_size=family.max_shard_size)

    write_config_before_v5(directory / "model", directory / "config-before-v5.json")

    model = load(directory / "model")
    vocab = family.config.vocab_size
    lengths = {"short": 11, "longer": 17, "forty": 40}
    sequences = {name: random_tokens(length, vocab, generator) for name, length in lengths.items()}
    training = training_case(vocab, generator)

    tensors: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        tensors |= {f"base.logits.{name}": logits for name, logits in all_logits(model, sequences).items()}
    full = full_gradient_norm(model, training)
    peft_model = add_random_adapter(model, generator)
    save_adapter(peft_model, directory / "adapter")
    with torch.no_grad():
        tensors |= {f"adapter.logits.{name}": logits for name, logits in all_logits(peft_model, sequences).items()}

    inputs = policy_inputs(trained_logprobs(peft_model, training), generator)
    losses = {"cross_entropy": cross_entropy(trained_logprobs(peft_model, training))}
    gaps = {**inputs, "old_logprobs": inputs["old_logprobs"].clone()}
    gaps["old_logprobs"][[4, 11]] = torch.nan  # tokens without log-probabilities
    for name, clip in CLIP.items():
        losses[name] = policy_loss(trained_logprobs(peft_model, training), **inputs, **clip)
        losses[f"{name}_gaps"] = policy_loss(trained_logprobs(peft_model, training), **gaps, **clip)
    tensors["training.old_logprobs_with_gaps"] = gaps["old_logprobs"]
    tensors["training.logprobs"] = trained_logprobs(peft_model, training).detach()
    tensors |= {f"training.{name}": value for name, value in inputs.items()}
    for name, loss in losses.items():
        tensors |= {f"gradients.{name}.{key}": grad for key, grad in gradients_of(peft_model, loss).items()}

    adamw = ten_steps(peft_model, training, inputs)
    tensors |= {f"adamw.final.{name}": p.detach() for name, p in lora_parameters(peft_model).items()}
    noise = eager_against_sdpa(directory, sequences, training, inputs, tensors, adamw) if family.has_sdpa else None

    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, directory / "expected.safetensors")
    expected = {
        "family": family.name,
        "madeWith": made_with("torch", "transformers", "peft", "safetensors"),
        "arithmetic": "float32, eager attention",
        "tolerance": TOLERANCE,
        "eagerAgainstSdpa": noise,
        "sequences": sequences,
        "training": training,
        "losses": {name: loss.item() for name, loss in losses.items()},
        "full": full,
        "clip": {
            name: {"ppo": c["ppo"], "epsilon": c["epsilon"], "epsilonHigh": c["epsilon_high"]} for name, c in CLIP.items()
        },
        "adamw": {
            "learningRate": ADAMW["lr"],
            "beta1": ADAMW["betas"][0],
            "beta2": ADAMW["betas"][1],
            "epsilon": ADAMW["eps"],
            "weightDecay": ADAMW["weight_decay"],
            "maxGradNorm": MAX_GRAD_NORM,
            **adamw,
        },
    }
    write_json(directory / "expected.json", expected)
    print(family.name, {name: round(loss.item(), 4) for name, loss in losses.items()}, noise)


def eager_against_sdpa(
    directory: Path, sequences: dict, training: dict, inputs: dict, eager: dict[str, torch.Tensor], adamw: dict
) -> dict[str, float]:
    """PyTorch's difference from itself with another attention implementation: tolerances must be well above it."""
    model = PeftModel.from_pretrained(load(directory / "model", "sdpa"), directory / "adapter", is_trainable=True).eval()
    with torch.no_grad():
        logits = all_logits(model, sequences)
    loss = policy_loss(trained_logprobs(model, training), **inputs, **CLIP["cispo"])
    gradients = gradients_of(model, loss)
    noise = {
        "logits": max((logits[name] - eager[f"adapter.logits.{name}"]).abs().max().item() for name in logits),
        "gradient": max(
            ((grad - eager[f"gradients.cispo.{name}"]).abs().max() / grad.abs().max()).item()
            for name, grad in gradients.items()
        ),
    }
    losses = ten_steps(model, training, inputs)["losses"]
    noise["adamwLosses"] = max(abs(one - other) for one, other in zip(losses, adamw["losses"], strict=True))
    noise["adamwFinal"] = max(
        (p.detach() - eager[f"adamw.final.{name}"]).abs().max().item() for name, p in lora_parameters(model).items()
    )
    for name, distance in noise.items():
        assert distance * 5 < TOLERANCE[name], f"{directory.name}: {name} differ by {distance} within PyTorch itself"
    return noise


def main() -> None:
    torch.set_num_threads(1)
    for family in wanted_families():
        make(family)


if __name__ == "__main__":
    main()
