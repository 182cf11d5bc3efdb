"""Writes test/support/golden/fixtures/schedules.json: the learning rate of each optimizer step by Transformers' get_scheduler.

Warm-up ratios are converted to steps as in TrainingArguments.get_warmup_steps. Run through `npm run golden:make`.
"""

import json
import math

import torch
from provenance import FIXTURES, made_with
from transformers import get_scheduler

PEAK = 2e-4
# Our name → the name there: a constant schedule with a warm-up has its own.
NAMES = {"constant": "constant_with_warmup", "linear": "linear", "cosine": "cosine"}
CASES = [
    {"steps": 1, "warmup_steps": 0},
    {"steps": 10, "warmup_steps": 0},
    {"steps": 10, "warmup_steps": 3},
    {"steps": 10, "warmup_steps": 10},
    {"steps": 4, "warmup_steps": 9},
    {"steps": 10, "warmup_steps": 3, "warmup_ratio": 0.5},
    {"steps": 37, "warmup_ratio": 0.1},
    {"steps": 100, "warmup_ratio": 0.07},
]


def rates(name: str, steps: int, warmup: int) -> list[float]:
    optimizer = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=PEAK)
    scheduler = get_scheduler(name, optimizer, num_warmup_steps=warmup, num_training_steps=steps)
    result = []
    for _ in range(steps):
        result.append(scheduler.get_last_lr()[0])
        optimizer.step()
        scheduler.step()
    return result


def main() -> None:
    cases = []
    for ours, theirs in NAMES.items():
        for case in CASES:
            warmup = case.get("warmup_steps") or math.ceil(case["steps"] * case.get("warmup_ratio", 0))
            cases.append({"lr_scheduler_type": ours, **case, "rates": rates(theirs, case["steps"], warmup)})
    expected = {"madeWith": made_with("torch", "transformers"), "tolerance": 1e-7, "learning_rate": PEAK, "cases": cases}
    (FIXTURES / "schedules.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
