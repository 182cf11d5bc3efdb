"""Writes test/support/golden/fixtures/dpo/expected.json: DPO jobs over the starter model, and the results of TRL's DPOTrainer for them.

Policy and reference start with the adapter of fixtures/sft: loss, TRL's metrics and the norm of the gradients of each batch along
AdamW's steps, and the adapter after the first step. Then the same policy against the base model as reference, without steps: loss
and metrics of each batch, and for the second a sketch of every LoRA gradient. The values are computed by a plain formula in float64,
every answer alone; TRL, whose log-probabilities are float32, must agree on each batch. TRL no longer has a sigmoid loss with label
smoothing: there it is called twice, the second time with chosen and rejected exchanged. TRL also trains what the template writes
after the end of a turn, so it is given the tokens up to that end. Needs requirements-trl.txt; not part of make_all.py.
"""

import json
import tempfile

import torch
import torch.nn.functional as F
from datasets import Dataset
from make_models import lora_parameters
from make_rl import rounded, sketch
from make_sft import STARTER, TOOL, as_template_wants, said
from peft import PeftModel
from provenance import FIXTURES, made_with
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer

BATCH_SIZE = 2
RATE = 5e-4
TRL_TOLERANCE = 1e-5
CALL = {"id": "c1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "12 + 30"}'}}
LOSSES = [
    {"loss_type": "sigmoid", "beta": 0.1},
    {"loss_type": "sigmoid", "beta": 0.3, "label_smoothing": 0.1},
    {"loss_type": "robust", "beta": 0.3, "label_smoothing": 0.1},
    {"loss_type": "hinge", "beta": 0.5},
    {"loss_type": "ipo", "beta": 0.2},
]
ROWS: list[dict] = [
    {"prompt": [said("user", "What is 23 + 14?")], "chosen": [said("assistant", "37")], "rejected": [said("assistant", "36")]},
    {
        "prompt": [said("system", "You are a helpful assistant."), said("user", "How are you?")],
        "chosen": [said("assistant", "I am well.")],
        "rejected": [said("assistant", "I am well. How are you?")],
    },
    {
        "prompt": [said("user", "What is 12 + 30?")],
        "chosen": [said("assistant", "", tool_calls=[CALL])],
        "rejected": [said("assistant", "42")],
        "tools": [TOOL],
    },
    {
        "prompt": [said("user", "Hello!"), said("assistant", "Hello! How are you?"), said("user", "Who are you?")],
        "chosen": [said("assistant", "I am the Whetstone starter model.")],
        "rejected": [said("assistant", "You are welcome!")],
    },
    {
        "prompt": [said("user", "Which is larger, 12 or 30?")],
        "chosen": [said("assistant", "30")],
        "rejected": [said("assistant", "12")],
    },
]


def tokenized(tokenizer, row: dict) -> dict:
    def ids(messages: list[dict], **more) -> list[int]:
        text = tokenizer.apply_chat_template(as_template_wants(messages), tools=row.get("tools"), tokenize=False, **more)
        return tokenizer(text, add_special_tokens=False)["input_ids"]

    prompt = ids(row["prompt"], add_generation_prompt=True)
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")

    def answer(name: str) -> list[int]:
        whole = ids(row["prompt"] + row[name])
        assert whole[: len(prompt)] == prompt
        return whole[len(prompt) : len(whole) - whole[::-1].index(end)]

    return {"prompt_ids": prompt, "chosen_ids": answer("chosen"), "rejected_ids": answer("rejected")}


def answer_logprob(model, prompt: list[int], answer: list[int]) -> torch.Tensor:
    logits = model(input_ids=torch.tensor([prompt + answer])).logits[0, len(prompt) - 1 : -1]
    return torch.log_softmax(logits, dim=-1)[range(len(answer)), answer].sum()


def formula(model, reference, batch: list[dict], config: dict) -> tuple[torch.Tensor, dict]:
    """Returns the loss of a batch and its metrics, computed from the definitions."""
    beta, smoothing, kind = config["beta"], config.get("label_smoothing", 0.0), config["loss_type"]

    def scores(policy, name: str) -> torch.Tensor:
        return torch.stack([answer_logprob(policy, row["prompt_ids"], row[name]) for row in batch])

    chosen, rejected = scores(model, "chosen_ids"), scores(model, "rejected_ids")
    with torch.no_grad():
        gained, lost = chosen - scores(reference, "chosen_ids"), rejected - scores(reference, "rejected_ids")
    gained, lost = gained.detach() + chosen - chosen.detach(), lost.detach() + rejected - rejected.detach()
    h = gained - lost
    right, wrong = -F.logsigmoid(beta * h), -F.logsigmoid(-beta * h)
    if kind == "ipo":
        lengths = [torch.tensor([len(row[name]) for row in batch]) for name in ("chosen_ids", "rejected_ids")]
        h = gained / lengths[0] - lost / lengths[1]
    loss = {
        "sigmoid": (1 - smoothing) * right + smoothing * wrong,
        "robust": ((1 - smoothing) * right - smoothing * wrong) / (1 - 2 * smoothing),
        "hinge": torch.relu(1 - beta * h),
        "ipo": (h - 1 / (2 * beta)) ** 2,
    }[kind].mean()
    metrics = {
        "rewards/chosen": beta * gained.mean(),
        "rewards/rejected": beta * lost.mean(),
        "rewards/margins": beta * (gained - lost).mean(),
        "rewards/accuracies": (gained > lost).double().mean(),
        "logps/chosen": chosen.mean(),
        "logps/rejected": rejected.mean(),
    }
    return loss, {name: value.item() for name, value in metrics.items()}


def make_model(dtype: torch.dtype = torch.float64):
    base = AutoModelForCausalLM.from_pretrained(STARTER, dtype=torch.float32, attn_implementation="eager")
    return PeftModel.from_pretrained(base, FIXTURES / "sft" / "adapter", is_trainable=True).to(dtype).eval()


def make_trainer(tokenizer, config: dict, directory: str) -> DPOTrainer:
    if smoothed_sigmoid(config):
        config = {name: value for name, value in config.items() if name != "label_smoothing"}
    arguments = DPOConfig(output_dir=directory, max_length=None, report_to=[], use_cpu=True, bf16=False, gradient_checkpointing=False, **config)
    rows = Dataset.from_list([{name: row[name] for name in ("prompt", "chosen", "rejected")} for row in ROWS if "tools" not in row])
    return DPOTrainer(model=make_model(torch.float32), args=arguments, train_dataset=rows, processing_class=tokenizer)


def smoothed_sigmoid(config: dict) -> bool:
    return config["loss_type"] == "sigmoid" and "label_smoothing" in config


def trl_loss(trainer: DPOTrainer, model, batch: list[dict], base_scores: list | None) -> torch.Tensor:
    """`base_scores`: those of the reference for chosen and rejected; None: TRL uses its own copy of the adapter."""
    inputs = trainer.data_collator(batch)
    trainer.precompute_ref_logps = base_scores is not None
    if base_scores:
        inputs["ref_chosen_logps"], inputs["ref_rejected_logps"] = base_scores
    return trainer._compute_loss(model, inputs, return_outputs=False)


def check(trainer: DPOTrainer, model, batch: list[dict], config: dict, ours: tuple, base_scores: list | None) -> None:
    """Checks that TRL's loss, metrics and gradients equal `ours`."""
    loss, metrics, gradients = ours
    trainer._metrics["eval"].clear()
    theirs = trl_loss(trainer, model, batch, base_scores)
    for name, value in metrics.items():
        its = trainer._metrics["eval"][name][-1]
        assert abs(its - value) < TRL_TOLERANCE * max(1, abs(value)), (name, its, value)
    if smoothed_sigmoid(config):  # a label is wrong with this probability: (1 − ε) · L(chosen, rejected) + ε · L(rejected, chosen)
        exchanged = [{**row, "chosen_ids": row["rejected_ids"], "rejected_ids": row["chosen_ids"]} for row in batch]
        wrong = trl_loss(trainer, model, exchanged, base_scores and base_scores[::-1])
        theirs = (1 - config["label_smoothing"]) * theirs + config["label_smoothing"] * wrong
    assert abs(theirs.item() / loss.item() - 1) < TRL_TOLERANCE, (theirs.item(), loss.item())
    its_gradients = torch.autograd.grad(theirs, list(lora_parameters(model).values()))
    own, its = (torch.cat([gradient.flatten() for gradient in each]) for each in (gradients, its_gradients))
    error = ((own - its).norm() / own.norm()).item()
    assert error < TRL_TOLERANCE, error


def job(tokenizer, data: list[dict], config: dict) -> dict:
    reference = make_model()
    batches = [data[at : at + BATCH_SIZE] for at in range(0, len(data), BATCH_SIZE)]
    with tempfile.TemporaryDirectory() as directory:
        trainer = make_trainer(tokenizer, config, directory)
        model = trainer.model.double().eval()
        parameters = lora_parameters(model)

        def compared(batch: list[dict], base_model) -> tuple[torch.Tensor, dict, tuple]:
            loss, metrics = formula(model, base_model or reference, batch, config)
            gradients = torch.autograd.grad(loss, list(parameters.values()))
            with torch.no_grad():
                names = ("chosen_ids", "rejected_ids")
                of_base = base_model and [torch.stack([answer_logprob(base_model, row["prompt_ids"], row[n]) for row in batch]) for n in names]
            check(trainer, model, batch, config, (loss, metrics, gradients), of_base)
            return loss, metrics, gradients

        against_base = []
        base = AutoModelForCausalLM.from_pretrained(STARTER, dtype=torch.float64, attn_implementation="eager").eval()
        for i, batch in enumerate(batches):
            loss, metrics, gradients = compared(batch, base)
            against_base.append({"loss": loss.item(), "metrics": metrics})
            if i == 1:
                against_base[i]["gradients"] = {name: sketch(g) for name, g in zip(parameters, gradients, strict=True)}

        optimizer = torch.optim.AdamW(parameters.values(), lr=RATE, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
        steps = []
        for batch in batches:
            loss, metrics, gradients = compared(batch, None)
            optimizer.zero_grad()
            for parameter, gradient in zip(parameters.values(), gradients, strict=True):
                parameter.grad = gradient
            norm = torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0).item()
            optimizer.step()
            steps.append({"loss": loss.item(), "metrics": metrics, "gradNorm": norm})
            if len(steps) == 1 and config is LOSSES[0]:
                steps[0]["adapter"] = {name: sketch(parameter.detach()) for name, parameter in parameters.items()}
    return {"config": config, "steps": steps, "againstBase": against_base}


def main() -> None:
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(STARTER)
    data = [tokenized(tokenizer, row) for row in ROWS]
    expected = {
        "madeWith": made_with("torch", "transformers", "peft", "trl"),
        "arithmetic": "float64",
        "tolerance": 1e-5,  # relative: of each loss, of each gradient to its norm; of metrics to the largest of them
        "batchSize": BATCH_SIZE,
        "learningRate": RATE,
        "rows": ROWS,
        "tokens": [[row["prompt_ids"] + row[name] for name in ("chosen_ids", "rejected_ids")] for row in data],
        "answers": [[len(row[name]) for name in ("chosen_ids", "rejected_ids")] for row in data],
        "jobs": [rounded(job(tokenizer, data, config)) for config in LOSSES],
    }
    directory = FIXTURES / "dpo"
    directory.mkdir(exist_ok=True)
    (directory / "expected.json").write_text(json.dumps(expected, allow_nan=False, ensure_ascii=False) + "\n")
    print("dpo:", len(LOSSES), "jobs of", len(ROWS), "pairs")


if __name__ == "__main__":
    main()
