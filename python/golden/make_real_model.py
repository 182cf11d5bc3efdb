"""Writes test/support/golden/fixtures/real-model.json: what Transformers and PEFT compute of a real model, SmolLM2-135M-Instruct.

Takes the GGUF file that examples/real-model/fetch.sh fetches, in float32: prompt ids and greedy answers to the prompts of bench/prompts.json,
log-probabilities at the end of long texts, and the gradient of an adapter. Text, adapter and targets are given by rules, so
that the fixture holds only results: make_real_model.py MODEL.gguf
"""

import hashlib
import json
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from provenance import FIXTURES, made_with
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import AutoModelForCausalLM, AutoTokenizer

ROOT = Path(__file__).resolve().parents[2]
PROMPTS = 20
ANSWERED = 8
ANSWER_TOKENS = 16
LENGTHS = (64, 512, 2048, 8000)
SHOWN = 32
"""Log-probabilities of the last tokens of each length."""

RANK, ALPHA = 4, 8
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj"]


def wave(rows: int, columns: int, size: float, phase: int) -> torch.Tensor:
    """`[rows, columns]`: size · sin(phase + 3 · row + 0.1 · column)."""
    angle = phase + 3 * torch.arange(rows, dtype=torch.float64)[:, None] + 0.1 * torch.arange(columns, dtype=torch.float64)
    return (size * torch.sin(angle)).float()


def set_adapter(model) -> None:
    for layer in range(model.config.num_hidden_layers):
        for t, target in enumerate(TARGETS):
            module = model.base_model.model.model.layers[layer].self_attn.get_submodule(target)
            for name, size, phase in (("lora_A", 0.05, 0), ("lora_B", 0.01, 1)):
                weight = getattr(module, name)["default"].weight
                weight.data = wave(*weight.shape, size, 10 * layer + 2 * t + phase)


def target_logprobs(model, ids: list[int]) -> torch.Tensor:
    """`[ids − 1]`, nats. The head computes only the tokens that are shown, if there are many."""
    logits = model(torch.tensor([ids]), logits_to_keep=min(len(ids), 512)).logits[0, :-1].float()
    return torch.log_softmax(logits, -1).gather(-1, torch.tensor(ids[-len(logits) :])[:, None])[:, 0]


def main() -> None:
    path = Path(sys.argv[1])
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # Transformers reads every GGUF tokenizer of this kind as GPT-2's; `smollm` splits digits first (tokenizer.ggml.pre).
    tokenizer.backend_tokenizer.pre_tokenizer = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
    model = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32).eval()
    prompts = json.loads((ROOT / "bench/prompts.json").read_text())[:PROMPTS]
    messages = [[{"role": "user", "content": prompt}] for prompt in prompts]
    prompt_ids = [tokenizer.apply_chat_template(each, add_generation_prompt=True, return_dict=True)["input_ids"] for each in messages]
    license_ids = tokenizer((ROOT / "LICENSE").read_text())["input_ids"]

    answers = []
    with torch.no_grad():
        for ids in prompt_ids[:ANSWERED]:
            given = torch.tensor([ids])
            generated = model.generate(given, attention_mask=torch.ones_like(given), max_new_tokens=ANSWER_TOKENS, do_sample=False, repetition_penalty=1.0)
            tokens = generated[0, len(ids) :].tolist()
            answers.append({"tokens": tokens, "logprobs": target_logprobs(model, ids + tokens)[-len(tokens) :].tolist()})
        long = {}
        for length in LENGTHS:
            ids = (license_ids * (length // len(license_ids) + 1))[:length]
            long[length] = target_logprobs(model, ids)[-SHOWN:].tolist()
            print(f"{length} tokens", flush=True)

    trained = prompt_ids[0] + answers[0]["tokens"]
    peft = get_peft_model(model, LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, lora_dropout=0.0))
    set_adapter(peft)
    logprobs = target_logprobs(peft, trained)[-ANSWER_TOKENS:]
    (-logprobs.mean()).backward()
    norms = {
        name.replace(".default.weight", ".weight"): parameter.grad.double().norm().item()
        for name, parameter in peft.named_parameters()
        if parameter.requires_grad
    }
    expected = {
        "madeWith": made_with("torch", "transformers", "peft", "gguf"),
        "model": {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
        "promptIds": prompt_ids,
        "answers": answers,
        "long": long,
        "adapter": {"rank": RANK, "alpha": ALPHA, "targets": TARGETS, "logprobs": logprobs.tolist(), "gradientNorms": norms},
    }
    (FIXTURES / "real-model.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
