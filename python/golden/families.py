"""The tiny random models of the golden tests: one per family, with the family's special features.

Sizes are odd on purpose (12 values per head, heads x head_dim != hidden), so that a swapped axis cannot pass.
"""

import sys
from dataclasses import dataclass

import torch
from transformers import (
    Gemma2Config,
    Gemma3TextConfig,
    GraniteConfig,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    Olmo2Config,
    Olmo3Config,
    Phi3Config,
    PreTrainedConfig,
    Qwen2Config,
    Qwen3Config,
    Qwen3MoeConfig,
    SmolLM3Config,
)


@dataclass(frozen=True)
class Family:
    name: str
    config: PreTrainedConfig
    seed: int
    dtype: torch.dtype = torch.float32  # of the saved weights; everything is computed in float32
    max_shard_size: str = "5GB"
    has_sdpa: bool = True  # False: only eager attention computes this family (soft-caps)


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

# Stretches the slow half of the frequencies of an 8-wide head and scales cos and sin by 1 + 0.1 ln 4.
YARN_ROPE = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64, "beta_fast": 4.0, "beta_slow": 1.0}

# Of 8 values per head 6 turn; up to 4096 positions by the short factors, and cos and sin scaled by sqrt(1 + ln 4 / ln 4096).
LONG_ROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "partial_rotary_factor": 0.75,
    "short_factor": [1.0, 1.3, 2.0],
    "long_factor": [2.0, 5.0, 9.0],
    "original_max_position_embeddings": 4096,
}

GEMMA3_ROPE = {
    "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
    "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0},
}

SMALL = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 256,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "bos_token_id": 0,
    "eos_token_id": 1,
    "pad_token_id": 0,
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
        max_shard_size="60KB",
    ),
    Family(
        name="mistral",
        config=MistralConfig(**SMALL, head_dim=16, sliding_window=9, tie_word_embeddings=False),
        seed=44,
    ),
    Family(
        name="smollm3",
        config=SmolLM3Config(**SMALL, no_rope_layers=[1, 0], tie_word_embeddings=True),
        seed=55,
    ),
    Family(
        name="granite",
        config=GraniteConfig(
            **SMALL,
            attention_bias=True,
            mlp_bias=True,
            embedding_multiplier=6.0,
            attention_multiplier=0.2,
            residual_multiplier=0.4,
            logits_scaling=0.7,
            tie_word_embeddings=True,
        ),
        seed=66,
    ),
    Family(
        name="olmo2",
        config=Olmo2Config(**SMALL, tie_word_embeddings=False),
        seed=77,
    ),
    Family(
        name="olmo3",
        config=Olmo3Config(
            **{**SMALL, "rope_parameters": None},
            sliding_window=9,
            layer_types=["sliding_attention", "full_attention"],
            rope_theta=500000.0,
            rope_scaling=YARN_ROPE,
            tie_word_embeddings=False,
        ),
        seed=88,
    ),
    Family(
        name="phi3",
        config=Phi3Config(
            **{**SMALL, "rope_parameters": LONG_ROPE, "max_position_embeddings": 16384},
            original_max_position_embeddings=4096,
            sliding_window=9,
            tie_word_embeddings=False,
        ),
        seed=99,
    ),
    Family(
        name="gemma2",
        config=Gemma2Config(
            **SMALL,
            head_dim=16,
            query_pre_attn_scalar=24,
            sliding_window=9,
            attn_logit_softcapping=3.0,
            final_logit_softcapping=4.0,
            tie_word_embeddings=True,
        ),
        seed=111,
        has_sdpa=False,
    ),
    Family(
        name="gemma3_text",
        config=Gemma3TextConfig(
            **{**SMALL, "rope_parameters": GEMMA3_ROPE},
            head_dim=16,
            query_pre_attn_scalar=24,
            sliding_window=9,
            layer_types=["sliding_attention", "full_attention"],
            tie_word_embeddings=True,
        ),
        seed=122,
    ),
    Family(
        name="qwen3_moe",  # experts, the dense MLP, experts
        config=Qwen3MoeConfig(
            **{**SMALL, "num_hidden_layers": 3},
            head_dim=16,
            moe_intermediate_size=20,
            num_experts=6,
            num_experts_per_tok=3,
            norm_topk_prob=True,
            mlp_only_layers=[1],
            tie_word_embeddings=False,
        ),
        seed=133,
    ),
    Family(
        name="mixtral",
        config=MixtralConfig(
            **{**SMALL, "intermediate_size": 28}, head_dim=16, num_local_experts=5, num_experts_per_tok=2, sliding_window=9
        ),
        seed=144,
    ),
]


def wanted_families() -> list[Family]:
    """Returns the families named on the command line, so that a new one leaves the other fixtures unchanged; default: all."""
    names = sys.argv[1:]
    return [family for family in FAMILIES if not names or family.name in names]


def randomize(model: torch.nn.Module, seed: int) -> None:
    """Sets weights large enough that logits spread over several units, with norms and biases away from 1 and 0."""
    norm_center = 0 if model.config.model_type.startswith("gemma") else 1  # Gemma scales by 1 + weight
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if "norm" in name:
                parameter.copy_(norm_center + 0.2 * noise)
            elif name.endswith(".bias"):
                parameter.copy_(0.3 * noise)
            elif "embed_tokens" in name or "lm_head" in name:
                parameter.copy_(0.25 * noise)
            else:
                parameter.copy_(noise * 0.8 / parameter.shape[-1] ** 0.5)  # all experts are in one tensor in memory
