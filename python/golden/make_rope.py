"""Writes test/support/golden/fixtures/rope: rotary frequencies for the sizes of real models, the tiny models' logits after 4096 tokens,
and their greedy output after 1920.

A frequency that is off by one unit in the last place turns a head visibly after thousands of positions, so these are
compared bit by bit; the logits are those of the tiny models of make_models.py, which must be written first.
"""

import torch
from families import wanted_families
from make_models import load, write_json
from provenance import FIXTURES, known_fixture, made_with
from safetensors.torch import load_file, save_file
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

LLAMA3 = {"rope_type": "llama3", "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
YARN = {"rope_type": "yarn"}
SIZES = {
    "qwen3": (128, {"rope_type": "default", "rope_theta": 1000000.0}),
    "qwen2.5-0.5b": (64, {"rope_type": "default", "rope_theta": 1000000.0}),
    "llama-2": (128, {"rope_type": "default", "rope_theta": 10000.0}),
    "llama-3.1": (128, {**LLAMA3, "rope_theta": 500000.0, "factor": 8.0}),
    "llama-3.2": (64, {**LLAMA3, "rope_theta": 500000.0, "factor": 32.0}),
    "olmo-3": (128, {**YARN, "rope_theta": 500000.0, "factor": 8.0, "original_max_position_embeddings": 8192}),
    "qwen3-yarn": (128, {**YARN, "rope_theta": 1000000.0, "factor": 4.0, "original_max_position_embeddings": 32768}),
    "linear": (128, {"rope_type": "linear", "rope_theta": 10000.0, "factor": 3.0}),
}
LENGTH = 4096
ROWS = [1023, 2047, 3071, 4095]
GREEDY_PROMPT = 1920
GREEDY_TOKENS = 128
GREEDY_MARGIN = 5e-5  # several times the difference between two ways to compute the same logits


def long_sequence(vocab: int) -> list[int]:
    """The test computes the same values."""
    return [(i * 7919 + (i >> 5) * 104729) % vocab for i in range(LENGTH)]


def greedy(model: torch.nn.Module, prompt: list[int]) -> list[int]:
    """Returns the tokens of `generate`, none of which would change if the logits were rounded differently."""
    ids = torch.tensor([prompt])
    out = model.generate(
        ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=GREEDY_TOKENS, min_new_tokens=GREEDY_TOKENS,
        pad_token_id=0, eos_token_id=None, output_logits=True, return_dict_in_generate=True,
    )  # fmt: skip
    margin = min((first - second).item() for first, second in (step[0].topk(2).values for step in out.logits))
    assert margin > GREEDY_MARGIN, f"a token is chosen by only {margin:.1e}: take another prompt"
    return out.sequences[0, len(prompt) :].tolist()


def frequencies(head_dim: int, rope_parameters: dict) -> torch.Tensor:
    config = LlamaConfig(hidden_size=head_dim, num_attention_heads=1, head_dim=head_dim, rope_parameters=rope_parameters)
    return LlamaRotaryEmbedding(config).inv_freq


def main() -> None:
    torch.set_num_threads(1)
    directory = FIXTURES / "rope"
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "expected.safetensors"
    tensors = load_file(path) if path.exists() else {}
    tensors |= {f"frequencies.{name}": frequencies(*size) for name, size in SIZES.items()}
    noise = known_fixture("rope/expected.json").get("eagerAgainstSdpa", {})
    greedily = known_fixture("rope/expected.json").get("greedy", {})
    for family in wanted_families():
        tokens = torch.tensor([long_sequence(family.config.vocab_size)])
        with torch.no_grad():
            ways = ("eager", "sdpa") if family.has_sdpa else ("eager",)
            eager, *others = (load(FIXTURES / family.name / "model", way)(tokens).logits[0, ROWS] for way in ways)
        tensors[f"logits.{family.name}"] = eager
        with torch.no_grad():
            prompt = tokens[0, :GREEDY_PROMPT].tolist()
            greedily |= {family.name: greedy(load(FIXTURES / family.name / "model"), prompt)}
        noise |= {family.name: (eager - other).abs().max().item() for other in others}
    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    expected = {
        "madeWith": made_with("torch", "transformers", "safetensors"),
        "arithmetic": "float32, eager attention",
        "eagerAgainstSdpa": noise,
        "greedy": greedily,
        "greedyPrompt": GREEDY_PROMPT,
        "length": LENGTH,
        "rows": ROWS,
        "sizes": {name: {"headDim": head_dim, "ropeParameters": rope} for name, (head_dim, rope) in SIZES.items()},
    }
    write_json(directory / "expected.json", expected)
    print("rope", noise)


if __name__ == "__main__":
    main()
