"""Writes test/support/golden/fixtures/lora: the options of PEFT's LoraConfig, on tiny models of make_models.py.

Per case an adapter with random A and B as PEFT saves it, and PyTorch's results for it: cross-entropy of the training case, the
gradient of every LoRA matrix, the matrices after one AdamW step, and log-probabilities and logits. Float32, eager attention, one
thread. In one case A is drawn from a Whetstone seed, by a second implementation from the generator's paper: PEFT has no seed.
"""

import json
import shutil
from collections.abc import Iterator

import torch
from losses import cross_entropy
from make_models import ADAMW, MAX_GRAD_NORM, gradients_of, load, logits_of, lora_parameters, save_adapter, trained_logprobs, write_json
from peft import LoraConfig, get_peft_model
from provenance import FIXTURES, made_with
from safetensors.torch import save_file

TOLERANCE = {
    "logits": 1e-5,  # absolute
    "logprobs": 1e-5,  # absolute, nats
    "loss": 1e-5,  # relative
    "gradient": 1e-5,  # relative to the largest element of the tensor
    "adamw": 1e-5,  # absolute; a fiftieth of the step
}
CASES = {
    "rank-1": ("qwen3", {"r": 1, "lora_alpha": 3, "target_modules": "all-linear"}),
    "rank-16-stabilized": ("qwen3", {"r": 16, "lora_alpha": 8, "use_rslora": True, "target_modules": "all-linear"}),
    "two-of-attention": ("llama", {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "v_proj"]}),
    "two-of-mlp": ("qwen2", {"r": 3, "lora_alpha": 5, "use_rslora": True, "target_modules": ["gate_proj", "down_proj"]}),
    "fused": ("phi3", {"r": 2, "lora_alpha": 16, "target_modules": ["qkv_proj", "down_proj"]}),
    "head-tied": ("qwen3", {"r": 4, "lora_alpha": 8, "target_modules": ["q_proj", "lm_head"]}),
    "head-alone": ("llama", {"r": 3, "lora_alpha": 5, "use_rslora": True, "target_modules": ["lm_head"]}),
    "head-capped": ("gemma2", {"r": 4, "lora_alpha": 8, "target_modules": ["v_proj", "lm_head"]}),
    "head-multiplied": ("granite", {"r": 4, "lora_alpha": 8, "target_modules": ["down_proj", "lm_head"]}),
    "seeded": ("llama", {"r": 8, "lora_alpha": 16, "target_modules": ["q_proj", "down_proj", "lm_head"]}),
}
WITH_COPY = "head-alone"
"""Saved with PEFT's defaults: the head is stored along with an adapter of it."""

SEEDS = {"seeded": 3407}
WORD = 0xFFFFFFFF


def uniform(seed: int) -> Iterator[float]:
    """Returns a number in [0, 1), 53 bits: xoshiro128** (arXiv:1805.01407), its state from SplitMix32. Seeds below 2^32."""

    def rotated(word: int, by: int) -> int:
        return (word << by | word >> 32 - by) & WORD

    def mixed(z: int) -> int:
        z = (z ^ z >> 16) * 0x21F0AAAD & WORD
        z = (z ^ z >> 15) * 0x735A2D97 & WORD
        return z ^ z >> 15

    state = [mixed(seed + (i + 1) * 0x9E3779B9 & WORD) for i in range(4)]

    def bits() -> int:
        result = rotated(state[1] * 5 & WORD, 7) * 9 & WORD
        shifted = state[1] << 9 & WORD
        state[2] ^= state[0]
        state[3] ^= state[1]
        state[1] ^= state[2]
        state[0] ^= state[3]
        state[2] ^= shifted
        state[3] = rotated(state[3], 11)
        return result

    while True:
        yield ((bits() << 21) + (bits() >> 11)) / 2**53


def draw_first_values(parameters: dict[str, torch.nn.Parameter], seed: int) -> None:
    """Draws every A in turn from the distribution that PEFT uses: U(−1/√in, 1/√in); PEFT's B are zero."""
    draws = uniform(seed)
    for key, parameter in parameters.items():
        if ".lora_B." in key:
            assert not parameter.any(), key
            continue
        bound = parameter.shape[1] ** -0.5
        assert 0.95 < parameter.abs().max().item() / bound < 1 + 1e-6, key
        values = [(next(draws) * 2 - 1) * bound for _ in range(parameter.numel())]
        parameter.copy_(torch.tensor(values, dtype=torch.float64).view(parameter.shape))


def make(name: str, family: str, asked: dict, generator: torch.Generator) -> dict:
    directory = FIXTURES / "lora" / name
    directory.mkdir(parents=True)
    of_family = json.loads((FIXTURES / family / "expected.json").read_text())
    training = of_family["training"]
    model = get_peft_model(load(FIXTURES / family / "model"), LoraConfig(**asked, lora_dropout=0.0, task_type="CAUSAL_LM"))
    parameters = lora_parameters(model)
    with torch.no_grad():
        if name in SEEDS:
            draw_first_values(parameters, SEEDS[name])
        for key, parameter in parameters.items():
            if name in SEEDS and ".lora_A." in key:
                continue
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4 / parameter.shape[1] ** 0.5)
    save_adapter(model, directory, save_embedding_layers=name == WITH_COPY)

    logprobs = trained_logprobs(model, training)
    tensors = {"logprobs": logprobs.detach(), "logits": logits_of(model, of_family["sequences"]["short"]).detach()}
    loss = cross_entropy(logprobs)
    tensors |= {f"gradients.{key}": grad for key, grad in gradients_of(model, loss).items()}
    optimizer = torch.optim.AdamW(list(parameters.values()), **ADAMW)
    cross_entropy(trained_logprobs(model, training)).backward()
    norm = torch.nn.utils.clip_grad_norm_(list(parameters.values()), MAX_GRAD_NORM).item()
    optimizer.step()
    tensors |= {f"adamw.{key}": parameter.detach() for key, parameter in parameters.items()}
    save_file({key: tensor.contiguous() for key, tensor in tensors.items()}, directory / "expected.safetensors")
    print(name, round(loss.item(), 4), round(norm, 4))
    seed = {"seed": SEEDS[name]} if name in SEEDS else {}
    return {"family": family, "lora": asked, **seed, "loss": loss.item(), "gradNorm": norm}


def main() -> None:
    torch.set_num_threads(1)
    shutil.rmtree(FIXTURES / "lora", ignore_errors=True)
    generator = torch.Generator().manual_seed(77)
    cases = {name: make(name, *case, generator) for name, case in CASES.items()}
    beta1, beta2 = ADAMW["betas"]
    adamw = {"learningRate": ADAMW["lr"], "beta1": beta1, "beta2": beta2, "epsilon": ADAMW["eps"]}
    adamw |= {"weightDecay": ADAMW["weight_decay"], "maxGradNorm": MAX_GRAD_NORM}
    made = made_with("torch", "transformers", "peft", "safetensors")
    write_json(FIXTURES / "lora" / "expected.json", {"madeWith": made, "tolerance": TOLERANCE, "adamw": adamw, "cases": cases})


if __name__ == "__main__":
    main()
