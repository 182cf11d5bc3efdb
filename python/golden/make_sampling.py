"""Writes test/support/golden/fixtures/sampling.json: the output of Transformers' logits processors for fixed logits, and the greedy
output of its `generate` with the tiny golden models, with and without processors. Run through `npm run golden:make`.
"""

import json
from pathlib import Path

import torch
from families import wanted_families
from make_models import load
from provenance import FIXTURES, known_fixture, made_with
from transformers import (
    LogitsProcessorList,
    MinNewTokensLengthLogitsProcessor,
    MinPLogitsWarper,
    NoBadWordsLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
    SequenceBiasLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

TOLERANCE = {"processors": 1e-5, "probabilities": 1e-5, "logprobs": 1e-4}
VOCAB = 300
EOS = 7
PROMPT = [5, 9, 9, 120, 7, 33]
COMPLETION = [40, 41, 9, 250, 40, 41]
NEW_TOKENS = 24


def processors(prompt_length: int) -> dict[str, tuple[dict, list]]:
    """Returns, by name, our settings and the equivalent processors."""
    biases = [[12, 3.5], [299, -7.25], [40, 100.0]]
    words = [[41, 40], [13], [9, 250, 40, 41, 77]]
    return {
        "repetition_penalty": ({"repetitionPenalty": 1.7}, [RepetitionPenaltyLogitsProcessor(1.7)]),
        "bad_words": ({"badWords": words}, [NoBadWordsLogitsProcessor(words, eos_token_id=EOS)]),
        "min_tokens": (
            {"minTokens": 8, "endTokenIds": [EOS, 21]},
            [MinNewTokensLengthLogitsProcessor(prompt_length, 8, [EOS, 21])],
        ),
        "min_tokens_reached": (
            {"minTokens": 6, "endTokenIds": [EOS]},
            [MinNewTokensLengthLogitsProcessor(prompt_length, 6, [EOS])],
        ),
        "logit_bias": ({"logitBias": biases}, [SequenceBiasLogitsProcessor([[[token], bias] for token, bias in biases])]),
        "all": (
            {"badWords": words, "logitBias": biases, "repetitionPenalty": 1.3},
            [
                NoBadWordsLogitsProcessor(words, eos_token_id=EOS),
                SequenceBiasLogitsProcessor([[[token], bias] for token, bias in biases]),
                RepetitionPenaltyLogitsProcessor(1.3),
            ],
        ),
    }


def warpers() -> dict[str, tuple[dict, list]]:
    return {
        "temperature": ({"temperature": 0.6}, [TemperatureLogitsWarper(0.6)]),
        "min_p": ({"minP": 0.05}, [MinPLogitsWarper(0.05)]),
        "min_p_hot": ({"minP": 0.02, "temperature": 1.5}, [TemperatureLogitsWarper(1.5), MinPLogitsWarper(0.02)]),
        "top_p": ({"topP": 0.8}, [TopPLogitsWarper(0.8)]),
        "top_p_narrow": ({"topP": 0.1, "temperature": 0.7}, [TemperatureLogitsWarper(0.7), TopPLogitsWarper(0.1)]),
        "top_k": ({"topK": 20}, [TopKLogitsWarper(20)]),
        "top_k_top_p": (
            {"topK": 30, "topP": 0.9, "temperature": 1.2},
            [TemperatureLogitsWarper(1.2), TopKLogitsWarper(30), TopPLogitsWarper(0.9)],
        ),
    }


def finite(values: torch.Tensor) -> list[float | None]:
    return [None if value == float("-inf") else value for value in values.tolist()]


def on_fixed_logits() -> dict:
    generator = torch.Generator().manual_seed(11)
    logits = torch.randn((1, VOCAB), generator=generator) * 4
    ids = torch.tensor([PROMPT + COMPLETION])
    shaped = {
        name: {"params": params, "logits": finite(LogitsProcessorList(chain)(ids, logits.clone())[0])}
        for name, (params, chain) in processors(len(PROMPT)).items()
    }
    drawn = {
        name: {"params": params, "probabilities": LogitsProcessorList(chain)(ids, logits.clone())[0].softmax(-1).tolist()}
        for name, (params, chain) in warpers().items()
    }
    return {"logits": logits[0].tolist(), "prompt": PROMPT, "completion": COMPLETION, "processors": shaped, "warpers": drawn}


@torch.no_grad()
def generated(directory: Path) -> list[dict]:
    model = load(directory)
    vocab = model.config.vocab_size
    generator = torch.Generator().manual_seed(3)
    runs = []
    for length, params, settings in [
        (5, {}, {}),
        (40, {}, {}),
        (12, {"repetitionPenalty": 1.5}, {"repetition_penalty": 1.5}),
        (9, {"minTokens": 10, "endTokenIds": list(range(2, vocab // 2))}, {"min_new_tokens": 10, "eos_token_id": list(range(2, vocab // 2))}),
    ]:
        prompt = torch.randint(2, vocab, (1, length), generator=generator)
        out = model.generate(
            prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=NEW_TOKENS, pad_token_id=0,
            output_logits=True, return_dict_in_generate=True, **{"eos_token_id": None, **settings},
        )  # fmt: skip
        tokens = out.sequences[0, length:].tolist()
        logprobs = [step[0].log_softmax(-1)[token].item() for step, token in zip(out.logits, tokens)]
        runs.append({"prompt": prompt[0].tolist(), "params": params, "tokens": tokens, "logprobs": logprobs})
    return runs


def main() -> None:
    expected = {
        "madeWith": made_with("torch", "transformers"),
        "tolerance": TOLERANCE,
        **on_fixed_logits(),
        "generate": known_fixture("sampling.json").get("generate", {})
        | {family.name: generated(FIXTURES / family.name / "model") for family in wanted_families()},
    }
    (FIXTURES / "sampling.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
