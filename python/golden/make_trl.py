"""Writes test/support/golden/fixtures/trl: an SFT and a DPO step of TRL's own trainers for twelve kinds of chat templates and tokenizers.

TRL renders and tokenizes the rows, marks what is trained (assistant_only_loss, with the template that has {% generation %}), collates
them and computes the loss; here is only the tiny Llama, in float64, and the sketches of its LoRA gradients. One thing is changed on
purpose, in `cut`: TRL also trains what a template writes behind the token that ends a turn, a line break or a second such token,
which no model ever writes. `cut` says of how many rows that is. Needs requirements-trl.txt; not part of make_all.py.
"""

import json
import tempfile

import make_examples
import torch
from conversations import assistant, system, user
from datasets import Dataset
from example_templates import FAMILIES, sources
from make_models import lora_parameters
from make_rl import rounded, sketch
from peft import LoraConfig, PeftModel, get_peft_model
from provenance import FIXTURES, made_with
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM
from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

DIRECTORY = FIXTURES / "trl"
KINDS = [
    ("llama2", "pieces-prefix"),
    ("mistral-spaced", "pieces-first"),
    ("chatml", "bytes-nfc"),
    ("chatml-broken-line", "unigram-fallback"),
    ("zephyr", "unigram-always"),
    ("vicuna", "pieces-prefix"),
    ("llama3", "bytes"),
    ("gemma", "pieces-plain"),
    ("phi3", "pieces-prefix"),
    ("cohere", "bytes-nfc"),
    ("qwen3_instruct_2507", "bytes-nfc"),
    ("lfm2", "bytes"),
]
NO_SYSTEM = {"llama2", "mistral-spaced", "gemma"}
BETA = 0.3
OPTIONS = {"report_to": [], "use_cpu": True, "bf16": False, "gradient_checkpointing": False, "max_length": None}


def sft_rows(name: str) -> list[dict]:
    first = [] if name in NO_SYSTEM else [system("Be brief.")]
    return [
        {"messages": [user("Yes or no?"), assistant("Yes.")]},
        {"messages": [*first, user("Größe?  Two spaces"), assistant("maß 🚀\nand a line"), user("1 + 2 = ?"), assistant("3"), user("今日は"), assistant("¿Qué?")]},
        {"messages": [user(" Hi \n"), assistant("Hello "), user("Say nothing."), assistant(""), user("Bye"), assistant("Good-bye.")]},
    ]


def dpo_rows(name: str) -> list[dict]:
    first = [] if name in NO_SYSTEM else [system("Be brief.")]
    return [
        {"prompt": [user("Yes or no?")], "chosen": [assistant("Yes.")], "rejected": [assistant("Maybe, or not.")]},
        {"prompt": [*first, user("Hi"), assistant("Hello!"), user("1 + 2 = ?")], "chosen": [assistant("3")], "rejected": [assistant("maß 🚀")]},
    ]


def make_model() -> None:
    torch.manual_seed(5)
    config = LlamaConfig(vocab_size=640, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=1024, tie_word_embeddings=True)  # fmt: skip
    model = LlamaForCausalLM(config)
    for parameter in model.parameters():
        parameter.data = torch.randn(parameter.shape) * (0.2 if parameter.dim() > 1 else 0.1) + (1 if parameter.dim() == 1 else 0)
    model.save_pretrained(DIRECTORY / "model")
    (DIRECTORY / "model" / "generation_config.json").unlink(missing_ok=True)
    adapted = get_peft_model(model, LoraConfig(r=2, lora_alpha=4, target_modules="all-linear", lora_dropout=0.0, task_type="CAUSAL_LM"))
    for parameter in lora_parameters(adapted).values():
        parameter.data = torch.randn(parameter.shape) * 0.1
    adapted.save_pretrained(DIRECTORY / "adapter")
    (DIRECTORY / "adapter" / "README.md").unlink(missing_ok=True)
    settings = DIRECTORY / "adapter" / "adapter_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "base_model_name_or_path": "tiny"}, indent=2, sort_keys=True) + "\n")


def policy() -> PeftModel:
    base = AutoModelForCausalLM.from_pretrained(DIRECTORY / "model", dtype=torch.float32, attn_implementation="eager")
    return PeftModel.from_pretrained(base, DIRECTORY / "adapter", is_trainable=True)


def end_of_turn(ids: list[int], tokenizer, stops: list[int]) -> int:
    """The length up to the first token that ends a generation, among those and white space with which the answer ends."""
    return make_examples.first_stop(ids, (0, len(ids)), stops, tokenizer) or len(ids)


def cut(row: dict, tokenizer, stops: list[int]) -> dict:
    """Without the labels behind the end of each turn."""
    labels, ids = list(row["labels"]), row["input_ids"]
    runs = make_examples.runs_of([int(label != -100) for label in labels])
    for start, end in runs:
        kept = start + end_of_turn(ids[start:end], tokenizer, stops)
        labels[kept:end] = [-100] * (end - kept)
    last = max(i for i, label in enumerate(labels) if label != -100) + 1  # nothing after it has a label
    return {"input_ids": ids[:last], "labels": labels[:last]}


def measured(loss: torch.Tensor, model) -> dict:
    parameters = lora_parameters(model)
    gradients = torch.autograd.grad(loss, list(parameters.values()))
    return {"loss": loss.item(), "gradients": {name: sketch(gradient) for name, gradient in zip(parameters, gradients, strict=True)}}


def sft(tokenizer, rows: list[dict], stops: list[int], marked: str, directory: str) -> dict:
    tokenizer.chat_template = marked
    arguments = SFTConfig(output_dir=directory, assistant_only_loss=True, **OPTIONS)
    trainer = SFTTrainer(model=policy(), args=arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
    model = trainer.model.double().eval()
    tokenized = [{key: list(row[key]) for key in ("input_ids", "labels")} for row in trainer.train_dataset]
    kept = [cut(row, tokenizer, stops) for row in tokenized]
    loss = trainer.compute_loss(model, trainer.data_collator(kept))
    labels = [[i for i, label in enumerate(row["labels"]) if label != -100] for row in kept]
    whole = [sum(label != -100 for label in row["labels"]) for row in tokenized]
    return {
        "tokens": [row["input_ids"] for row in kept],
        "labels": labels,
        "cut": sum(len(own) != all_ for own, all_ in zip(labels, whole, strict=True)),
        **measured(loss, model),
    }


def dpo(tokenizer, rows: list[dict], stops: list[int], plain: str, directory: str) -> dict:
    tokenizer.chat_template = plain
    arguments = DPOConfig(output_dir=directory, loss_type="sigmoid", beta=BETA, **OPTIONS)
    trainer = DPOTrainer(model=policy(), args=arguments, train_dataset=Dataset.from_list(rows), processing_class=tokenizer)
    model = trainer.model.double().eval()
    base = AutoModelForCausalLM.from_pretrained(DIRECTORY / "model", dtype=torch.float64, attn_implementation="eager").eval()
    answers = ("chosen_ids", "rejected_ids")
    tokenized = [{key: list(row[key]) for key in ("prompt_ids", *answers)} for row in trainer.train_dataset]
    kept = [{**row, **{key: row[key][: end_of_turn(row[key], tokenizer, stops)] for key in answers}} for row in tokenized]
    inputs = trainer.data_collator(kept)

    def score(row: dict, key: str) -> torch.Tensor:
        logits = base(input_ids=torch.tensor([row["prompt_ids"] + row[key]])).logits[0, len(row["prompt_ids"]) - 1 : -1]
        return torch.log_softmax(logits, dim=-1)[range(len(row[key])), row[key]].sum()

    with torch.no_grad():  # the base model is the reference, as of a job that starts from it
        inputs["ref_chosen_logps"], inputs["ref_rejected_logps"] = (torch.stack([score(row, key) for row in kept]) for key in answers)
    trainer.precompute_ref_logps = True
    loss = trainer._compute_loss(model, inputs, return_outputs=False)
    return {
        "tokens": [[row["prompt_ids"] + row[key] for key in answers] for row in kept],
        "answers": [[len(row[key]) for key in answers] for row in kept],
        "cut": sum(row[key] != own[key] for row, own in zip(kept, tokenized, strict=True) for key in answers),
        **measured(loss, model),
    }


def main() -> None:
    torch.set_num_threads(1)
    make_examples.freeze_clock()
    DIRECTORY.mkdir(exist_ok=True)
    make_model()
    cases = []
    for name, kind in KINDS:
        plain, marked = sources(name)
        tokenizer = make_examples.dressed(kind, name, plain)
        if tokenizer.pad_token is None:
            tokenizer.pad_token = tokenizer.eos_token
        stops = tokenizer.convert_tokens_to_ids(FAMILIES[name]["stops"])
        rows, pairs = sft_rows(name), dpo_rows(name)
        with tempfile.TemporaryDirectory() as directory:
            steps = {"sft": sft(tokenizer, rows, stops, marked, directory), "dpo": dpo(tokenizer, pairs, stops, plain, directory)}
        cases.append({"template": name, "tokenizer": kind, "rows": rows, "pairs": pairs, **rounded(steps)})
        print(name, kind, {step: (made["loss"], made["cut"]) for step, made in steps.items()})
    expected = {
        "madeWith": made_with("torch", "transformers", "peft", "trl"),
        "arithmetic": "float64; the losses of SFT in float32, as TRL computes them",
        "tolerance": 1e-5,  # relative: of each loss, of each gradient to its norm
        "beta": BETA,
        "cases": cases,
    }
    (DIRECTORY / "expected.json").write_text(json.dumps(expected, allow_nan=False, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    # Those of fixtures/examples: a Unigram tokenizer is not trained twice in the same way.
    made = json.loads((FIXTURES / "examples" / "tokenizers.json").read_text())
    make_examples.TOKENIZERS = {kind: json.dumps(tokenizer) for kind, tokenizer in made.items()}
    main()
