"""The comparison for training: a LoRA step (forward, backward, AdamW) in PyTorch + PEFT on random weights of a given shape.

Reads the shape as Hugging Face config JSON on stdin, prints {"name", "stepMs": [...]} on stdout. Called by bench/training.ts.
With --group, rows are the completions of one prompt as a padded batch, each with its own copy of the prompt, and only the
completions have logits, as in a trainer that does not share prefixes.
"""

import argparse
import json
import sys
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoConfig, AutoModelForCausalLM

TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, required=True, help="per row, prompt included")
    parser.add_argument("--prompt", type=int, default=1, help="number of the row's tokens that are not trained")
    parser.add_argument("--group", type=int, default=1, help="rows per step")
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], required=True)
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    settings = json.load(sys.stdin)
    config = AutoConfig.for_model(settings.pop("model_type"), **settings)
    model = AutoModelForCausalLM.from_config(config, dtype=getattr(torch, args.dtype), attn_implementation="sdpa")
    model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules=TARGETS, task_type="CAUSAL_LM"))
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, betas=(0.9, 0.99), weight_decay=0.1)
    tokens = torch.randint(0, config.vocab_size, (args.group, args.tokens))
    targets = tokens[:, args.prompt :]
    advantages = torch.linspace(-1, 1, args.group)[:, None] if args.group > 1 else 1.0

    step_ms = []
    for _ in range(args.steps):
        started = time.perf_counter()
        logits = model(input_ids=tokens, logits_to_keep=targets.shape[1] + 1).logits[:, :-1]
        logprobs = torch.log_softmax(logits.float(), dim=-1).gather(-1, targets[..., None])[..., 0]
        (-(advantages * logprobs).mean()).backward()
        torch.nn.utils.clip_grad_norm_(trained, 0.1)
        optimizer.step()
        optimizer.zero_grad()
        step_ms.append((time.perf_counter() - started) * 1000)
    json.dump({"name": f"PyTorch {torch.__version__} + PEFT, {args.dtype}", "stepMs": step_ms}, sys.stdout)


if __name__ == "__main__":
    main()
