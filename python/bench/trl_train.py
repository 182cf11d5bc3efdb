"""The peer of the bench time-to-reward: TRL's trainers on the prompts, rewards and settings that bench/reward-trl.ts sends.

Called as `trl_train.py convert GGUF DIRECTORY`, which writes the model that both contestants load, or as `trl_train.py train`, which
reads one JSON object per line on stdin and answers on stdout: the job first, then what the bench says when this program asks. It
holds before each step until it is told to go on, so that the contestants can alternate. Rewards and what an environment says are the
bench's: this program knows no task.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

channel = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # what libraries print is not an answer


def say(message: dict[str, Any]) -> None:
    channel.write(json.dumps(message) + "\n")


def ask(message: dict[str, Any]) -> Any:
    say(message)
    return json.loads(sys.stdin.readline())


def convert(gguf: str, directory: str) -> None:
    folder, name = str(Path(gguf).parent), Path(gguf).name
    read = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
    config = read.config
    del config.quantization_config  # the weights are float32 now
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(directory)
    AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(directory)


class StepByStep(TrainerCallback):
    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        ask({"holds": state.global_step})

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        say({"stepped": state.global_step})


class Losses(TrainerCallback):
    def __init__(self) -> None:
        self.losses: list[float] = []

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if logs and "loss" in logs:
            self.losses.append(logs["loss"])


def common(job: dict[str, Any]) -> dict[str, Any]:
    """Settings of all trainers: float32 on the CPU, and Whetstone's AdamW. Gradient checkpointing, TRL's default, saves memory by
    computing twice; it is off, because time is compared."""
    return {
        "output_dir": job["scratch"],
        "use_cpu": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "learning_rate": job["learningRate"],
        "lr_scheduler_type": "constant",
        "adam_beta1": 0.9,
        "adam_beta2": job["beta2"],
        "weight_decay": job["weightDecay"],
        "max_grad_norm": job["maxGradNorm"],
        "max_steps": job["steps"],
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "dataloader_num_workers": 0,
        "seed": 1,
    }


def two_turns(prompts: list[Any], trainer: Any) -> dict[str, Any]:
    """Rollouts with an answer of the environment between two of the model. Its tokens are context."""
    tokenizer, [first_max, last_max] = trainer.processing_class, trainer.turn_tokens
    end = tokenizer.eos_token_id
    prompt_ids = [tokenizer.apply_chat_template(p, add_generation_prompt=True, return_dict=False) for p in prompts]

    def generate(ids: list[list[int]], tokens_max: int) -> list[list[int]]:
        trainer.generation_config.max_new_tokens = tokens_max
        return trainer._generate_single_turn(ids, None, {}, trainer.num_generations)[0]

    firsts = generate(prompt_ids, first_max)
    texts = tokenizer.batch_decode(firsts, skip_special_tokens=True)
    questions = [p[-1]["content"] for p in prompts]
    replies = ask({"reply": {"questions": questions, "answers": texts}})
    between = []
    for prompt, ids, first, text, reply in zip(prompts, prompt_ids, firsts, texts, replies, strict=True):
        said = [*prompt, {"role": "assistant", "content": "-"}]
        ended = tokenizer.apply_chat_template(said, return_dict=False)
        whole = tokenizer.apply_chat_template(
            [*said, {"role": "user", "content": reply}], add_generation_prompt=True, return_dict=False
        )
        last_end = len(ended) - 1 - ended[::-1].index(end)
        between.append(([] if first[-1] == end else [end]) + whole[last_end + 1 :])
    lasts = generate([p + f + b for p, f, b in zip(prompt_ids, firsts, between, strict=True)], last_max)
    said = tokenizer.batch_decode(lasts, skip_special_tokens=True)
    parts = list(zip(firsts, between, lasts, strict=True))
    return {
        "prompt_ids": prompt_ids,
        "completion_ids": [f + b + last for f, b, last in parts],
        "logprobs": None,
        "env_mask": [[1] * len(f) + [0] * len(b) + [1] * len(last) for f, b, last in parts],
        "turns": [list(pair) for pair in zip(texts, said, strict=True)],
    }


def reward(prompts: list[Any], completions: list[Any], turns: Any = None, **_: Any) -> list[float]:
    said = turns if turns is not None else [[completion[0]["content"]] for completion in completions]
    return ask({"reward": {"questions": [prompt[-1]["content"] for prompt in prompts], "turns": said}})


def grpo(job: dict[str, Any], shared: dict[str, Any]) -> GRPOTrainer:
    turns = job["maxTokens"]
    config = GRPOConfig(
        **common(job),
        per_device_train_batch_size=job["atOnce"],
        gradient_accumulation_steps=job["tasksPerStep"] * job["answersPerTask"] // job["atOnce"],
        num_generations=job["answersPerTask"],
        max_completion_length=turns[0],
        shuffle_dataset=False,
        temperature=1.0,
        beta=0.0,
        loss_type="cispo",
        epsilon_high=4.0,
        logging_strategy="no",
    )
    rollouts = {"rollout_func": two_turns} if len(turns) > 1 else {}
    trainer = GRPOTrainer(args=config, reward_funcs=reward, callbacks=[StepByStep()], **rollouts, **shared)
    trainer.turn_tokens = turns
    return trainer


def from_rows(job: dict[str, Any], shared: dict[str, Any]) -> SFTTrainer | DPOTrainer:
    settings = {
        **common(job),
        "per_device_train_batch_size": job["batchSize"],
        "train_sampling_strategy": "sequential",
        "logging_steps": 1,
        "max_length": None,
    }
    if job["kind"] == "sft":
        return SFTTrainer(args=SFTConfig(**settings), **shared)
    return DPOTrainer(args=DPOConfig(**settings, beta=job["beta"]), **shared)


def train() -> None:
    job = json.loads(sys.stdin.readline())
    torch.set_num_threads(job["threads"])
    torch.manual_seed(1)
    tokenizer = AutoTokenizer.from_pretrained(job["model"])
    shared = {
        "model": AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32),
        "processing_class": tokenizer,
        "train_dataset": Dataset.from_list(job["rows"]),
        "peft_config": LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"),
    }
    trainer = (grpo if job["kind"] == "rl" else from_rows)(job, shared)
    prompt = tokenizer.apply_chat_template(job["rows"][0]["prompt"], add_generation_prompt=True, return_dict=False)
    losses = Losses()
    trainer.add_callback(losses)
    ask({"ready": prompt})
    trainer.train()
    say({"losses": losses.losses})


if __name__ == "__main__":
    if sys.argv[1] == "convert":
        convert(*sys.argv[2:])
    else:
        train()
