"""The tiny random models of the golden tests: one per family, each with what makes its family special.

Sizes are odd on purpose (12 values per head, heads x head_dim != hidden), so that a swapped axis cannot pass.
"""

from dataclasses import dataclass

import torch
from transformers import LlamaConfig, PreTrainedConfig, Qwen2Config, Qwen3Config


@dataclass(frozen=True)
class Family:
    name: str
    config: PreTrainedConfig
    seed: int
    dtype: torch.dtype  # of the saved weights; everything is computed in float32
    max_shard_size: str


# Wavelengths of the six frequencies of a 12-wide head, base 500: 6, 18, 50, 141, 396, 1117 positions. With 64 original
# positions the llama3 rule keeps those below 64/4 = 16, scales those above 64/1 = 64 and blends 18 and 50 between.
LLAMA3_ROPE = {
    "rope_type": "llama3",
    "rope_theta": 500.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}

FAMILIES = [
    Family(
        name="llama",
        config=LlamaConfig(
            vocab_size=192,
            hidden_size=48,
            intermediate_size=80,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            rms_norm_eps=1e-5,
            max_position_embeddings=512,
            rope_parameters=LLAMA3_ROPE,
            tie_word_embeddings=False,
            bos_token_id=0,
            eos_token_id=1,
        ),
        seed=11,
        dtype=torch.float32,
        max_shard_size="5GB",
    ),
    Family(
        name="qwen2",
        config=Qwen2Config(
            vocab_size=256,
            hidden_size=40,
            intermediate_size=72,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=1,
            rms_norm_eps=1e-6,
            max_position_embeddings=256,
            rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
            tie_word_embeddings=True,
            use_sliding_window=False,
            bos_token_id=0,
            eos_token_id=1,
        ),
        seed=22,
        dtype=torch.bfloat16,
        max_shard_size="5GB",
    ),
    Family(
        name="qwen3",
        config=Qwen3Config(
            vocab_size=224,
            hidden_size=32,
            intermediate_size=56,
            num_hidden_layers=2,
            num_attention_heads=6,
            num_key_value_heads=2,
            head_dim=16,
            rms_norm_eps=1e-6,
            max_position_embeddings=256,
            rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
            tie_word_embeddings=True,
            use_sliding_window=False,
            bos_token_id=0,
            eos_token_id=1,
        ),
        seed=33,
        dtype=torch.float32,
        max_shard_size="60KB",
    ),
]


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Weights large enough that logits spread over several units; norms and biases away from 1 and 0."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if "norm" in name:
                parameter.copy_(1 + 0.2 * noise)
            elif name.endswith(".bias"):
                parameter.copy_(0.3 * noise)
            elif "embed_tokens" in name or "lm_head" in name:
                parameter.copy_(0.25 * noise)
            else:
                parameter.copy_(noise * 0.8 / parameter.shape[1] ** 0.5)
