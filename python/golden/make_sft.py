"""Writes test/support/golden/fixtures/sft: an SFT job over the starter model, and the results of Transformers and PEFT for it.

Rows are rendered whole by the chat template and tokenized whole; labels are found in the text, between the assistant's
marker and the end of its turn. Per batch: tokens, labels, loss, and the norm and eight projections of every LoRA gradient;
then the losses of AdamW over all batches. Everything in float64, every row computed alone. Run through `npm run golden:make`.
"""

import json
import re
from pathlib import Path

import torch
from make_models import lora_parameters
from make_rl import rounded, sketch
from peft import LoraConfig, get_peft_model
from provenance import FIXTURES, made_with
from transformers import AutoModelForCausalLM, AutoTokenizer

STARTER = Path(__file__).resolve().parents[2] / "models" / "starter"
RANK, ALPHA, SEED = 2, 4, 11
BATCH_SIZE = 3
RATES = [1e-3, 3e-3, 2e-3]
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
TOOL = {
    "type": "function",
    "function": {
        "name": "calculator",
        "description": "Compute an expression.",
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]},
    },
}
CALL = {"id": "c1", "type": "function", "function": {"name": "calculator", "arguments": '{"expression": "12 + 30"}'}}


def said(role: str, content: str, **more) -> dict:
    return {"role": role, "content": content, **more}


# Close to the model's own output: if it is far off, float32 itself is not accurate to 1e-5.
ROWS: list[dict] = [
    {"messages": [said("user", "What is 23 + 14?"), said("assistant", "37")]},
    {
        "messages": [
            said("system", "You are a helpful assistant."),
            said("user", "Hello!"),
            said("assistant", "Hello! How are you?"),
            said("user", "Who are you?"),
            said("assistant", "I am the Whetstone starter model."),
        ]
    },
    {
        "messages": [
            said("user", "What is 12 + 30?"),
            said("assistant", "", tool_calls=[CALL]),
            said("tool", '{"result": 42}', tool_call_id="c1"),
            said("assistant", "42"),
        ],
        "tools": [TOOL],
    },
    {"messages": [said("user", "What is 23 + 14?"), said("assistant", "36")]},
    {
        "messages": [
            said("user", "Which is larger, 12 or 30?"),
            said("assistant", "30"),
            said("user", "What is 23 + 14?"),
            said("assistant", "37"),
        ]
    },
    {"messages": [said("user", "Thank you!"), said("assistant", "You are welcome!")], "tools": [TOOL]},
    {"messages": [said("user", "How are you?"), said("assistant", "I am well. How are you?")]},
]
TURN = re.compile(r"<\|im_start\|>assistant\n(.*?<\|im_end\|>)", re.DOTALL)


def as_template_wants(messages: list[dict]) -> list[dict]:
    """Returns the arguments of calls as an object, which templates of this family require."""
    return [
        {**m, "tool_calls": [{**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}} for c in m["tool_calls"]]}
        if "tool_calls" in m
        else m
        for m in messages
    ]


def tokens_and_labels(tokenizer, row: dict, turns: str) -> tuple[list[int], list[int]]:
    text = tokenizer.apply_chat_template(as_template_wants(row["messages"]), tools=row.get("tools"), tokenize=False)
    spans = [match.span(1) for match in TURN.finditer(text)]
    if turns == "last":
        spans = spans[-1:]
    read = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    inside = [any(start <= a and b <= end for start, end in spans) for a, b in read["offset_mapping"]]
    last = max(i for i, yes in enumerate(inside) if yes)  # the tokens after it have no label and are not computed
    return read["input_ids"][: last + 1], [i for i, yes in enumerate(inside) if yes]


def batch_loss(model, batch: list[tuple[list[int], list[int]]]) -> torch.Tensor:
    """Returns Σ cross-entropy / number of labels in the batch."""
    terms = []
    for tokens, labels in batch:
        rows = torch.log_softmax(model(input_ids=torch.tensor([tokens])).logits[0], dim=-1)
        terms.append(-rows[[i - 1 for i in labels], [tokens[i] for i in labels]].sum())
    return torch.stack(terms).sum() / sum(len(labels) for _, labels in batch)


def case(make_model, tokenizer, turns: str) -> dict:
    data = [tokens_and_labels(tokenizer, row, turns) for row in ROWS]
    batches = [data[i : i + BATCH_SIZE] for i in range(0, len(data), BATCH_SIZE)]
    model = make_model()
    parameters = lora_parameters(model)
    steps = []
    for batch in batches:
        loss = batch_loss(model, batch)
        gradients = torch.autograd.grad(loss, list(parameters.values()))
        steps.append({"loss": loss.item(), "gradients": {n: sketch(g) for n, g in zip(parameters, gradients, strict=True)}})
    optimizer = torch.optim.AdamW(parameters.values(), betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    losses, norms = [], []
    for batch, rate in zip(batches, RATES, strict=True):
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = batch_loss(model, batch)
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(parameters.values(), 1.0).item())
        optimizer.step()
        losses.append(loss.item())
    return {
        "assistantTurns": turns,
        "tokens": [tokens for tokens, _ in data],
        "labels": [labels for _, labels in data],
        "batches": steps,
        "adamw": {"losses": losses, "gradNorms": norms},
    }


def main() -> None:
    torch.set_num_threads(1)
    tokenizer = AutoTokenizer.from_pretrained(STARTER)
    directory = FIXTURES / "sft"
    config = LoraConfig(r=RANK, lora_alpha=ALPHA, target_modules=TARGETS, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM")

    def make_model():
        model = get_peft_model(AutoModelForCausalLM.from_pretrained(STARTER, dtype=torch.float32, attn_implementation="eager"), config)
        generator = torch.Generator().manual_seed(SEED)
        for parameter in lora_parameters(model).values():
            parameter.data = torch.randn(parameter.shape, generator=generator) * 0.02
        return model

    make_model().save_pretrained(directory / "adapter")
    (directory / "adapter" / "README.md").unlink(missing_ok=True)
    settings = directory / "adapter" / "adapter_config.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "base_model_name_or_path": "starter"}, indent=2, sort_keys=True) + "\n")
    expected = {
        "madeWith": made_with("torch", "transformers", "peft"),
        "arithmetic": "float64, every row alone",
        "tolerance": 1e-5,  # relative: of each loss, of each gradient to its norm
        "batchSize": BATCH_SIZE,
        "learningRates": RATES,
        "rows": ROWS,
        "cases": [rounded(case(lambda: make_model().double().eval(), tokenizer, turns)) for turns in ("all", "last")],
    }
    (directory / "expected.json").write_text(json.dumps(expected, allow_nan=False, ensure_ascii=False) + "\n")
    print("sft:", len(ROWS), "rows")


if __name__ == "__main__":
    main()
