"""Writes test/support/golden/fixtures/examples/trl-rows.json: what TRL's trainers make of rows of prompts with completions, of pairs and of plain
text, for the templates of make_examples.py, whose fixtures must exist. Rows are put together at random, with a seed.

SFTTrainer and DPOTrainer prepare the rows themselves. What is different on purpose (docs/guides/training.md) is changed here: what a template
writes behind the end of a turn is not trained, and of an answer of several messages only the assistant's turns are, each as it was when it was new.
A row is a digest of the tokens of its sequences and of which are trained; "-" where TRL or the server refuses it, a template writes no end of a turn,
or an answer changes how its prompt is written. Needs requirements-trl.txt; not part of make_all.py. With a template's name and the number of a row, it prints
the tokens.
"""

import hashlib
import json
import sys
from types import SimpleNamespace

import datasets
import make_examples
from conversations import ADD, WEATHER, assistant, system, user
from datasets import IterableDataset
from example_templates import FAMILIES, sources
from make_examples import COMBINATIONS, dressed, first_stop, freeze_clock, runs_of
from make_masks import CALLS, TEXTS, of_turn
from odd_conversations import Chance
from provenance import FIXTURES, made_with
from trl import DPOTrainer, SFTTrainer, extract_prompt

DIRECTORY = FIXTURES / "examples"
ROWS = 60
WORDS = ["The sky is", "The sky is ", " blue.", " green.", "", " ", "\n", "Größe 今日は", "same", "same text", "e\u0301", "</s>", "x<|im_end|>", "  two", "tail \n", "Question: a\nAnswer:", " the other answer", "<s> y"]
ODD = {"weight": 1e3, "function": {"priority": 1.0, "description": "d", "name": "odd", "strict": None, "parameters": {"type": "object", "properties": {"2": {"maximum": 2**63 - 1}, "1": {"minimum": 0.0}}}}, "type": "function"}
TOOLS = [[ADD, WEATHER], [ODD], [ADD], json.dumps([WEATHER, ADD]), None]


class Writer(Chance):
    def answer(self, calls: list[dict]) -> dict:
        content = self.any(["", None, self.any(TEXTS)]) if calls else self.any(TEXTS)
        message = assistant(content, **({"tool_calls": calls} if calls else {}))
        name = self.any(["reasoning_content"] * 3 + ["thinking", "reasoning"])
        return message | ({name: self.any(["because", "multi\nline\n", ""])} if self.now(0.3) else {})

    def calls(self) -> list[dict]:
        return [self.any(CALLS) for _ in range(self.any([1, 1, 2]))]

    def called(self, ends: bool) -> list[dict]:
        """A turn with calls and their results; then an answer."""
        calls = self.calls()
        results = [{"role": "tool", "name": call["function"]["name"], "content": self.any(TEXTS)} for call in calls]
        return [self.answer(calls), *results, *([self.answer([])] if ends else [])]

    def prompt(self, has_tools: bool) -> list[dict]:
        messages = [system(self.any(TEXTS))] if self.now(0.35) else []
        for _ in range(self.any([0, 0, 0, 1, 2])):
            messages.append(user(self.any(TEXTS)))
            messages += self.called(True) if has_tools and self.now(0.5) else [self.answer([])]
        if not messages or self.now(0.95):
            messages.append(user(self.any(TEXTS)))
        return messages + (self.called(False) if has_tools and self.now(0.3) else [])

    def completion(self, has_tools: bool) -> list[dict]:
        if has_tools and self.now(0.4):
            return self.called(True) if self.now(0.6) else [self.answer(self.calls())]
        return [self.answer([]), *([user(self.any(TEXTS)), self.answer([])] if self.now(0.12) else [])]

    def context(self, has_tools: bool) -> dict:
        variables = [{}, {"enable_thinking": False}, {"enable_thinking": True}, {"thinking": True, "custom": [1.0, None]}, {"documents": [{"title": "Sky", "text": "blue"}]}]
        tools = {"tools": self.any(TOOLS)} if has_tools or self.now(0.05) else {}
        return tools | ({"chat_template_kwargs": self.any(variables)} if self.now(0.2) else {})

    def row(self) -> dict:
        form = self.any(["completion"] * 4 + ["text", "texts", "texts"] + ["pair"] * 4 + ["implicit"] * 3 + ["asked", "text pair", "implicit texts"])
        words = [self.any(WORDS) for _ in range(3)]
        if form == "text":
            return {"text": words[0] + words[1]}
        if form == "texts":
            return {"prompt": words[0], "completion": words[1]}
        if form == "text pair":
            return {"prompt": words[0], "chosen": words[1], "rejected": words[2]}
        if form == "implicit texts":
            return {"chosen": words[0] + words[1], "rejected": words[0] + words[2]}
        has_tools = self.now(0.35)
        prompt, context = self.prompt(has_tools), self.context(has_tools)
        one, other = (self.completion(has_tools) for _ in range(2))
        if form == "completion":
            return {"prompt": prompt, "completion": one, **context}
        if form == "pair":
            return {"prompt": prompt, "chosen": one, "rejected": other, **context}
        return {"chosen": prompt + one, "rejected": prompt + other, **context, **({"prompt": str(prompt[-1]["content"])} if form == "asked" else {})}


def one(row: dict) -> IterableDataset:
    """Rows as they are: columns of Arrow would give each message the keys of the others."""
    return IterableDataset.from_generator(lambda: iter([json.loads(json.dumps(row))]))


def sft(tokenizer, row: dict) -> tuple[list[int], list[int]]:
    arguments = SimpleNamespace(dataset_num_proc=None, dataset_text_field="text", assistant_only_loss=False, max_length=None, shuffle_dataset=False)
    trainer = SimpleNamespace(_tokenizer=tokenizer, chat_template=None, completion_only_loss="prompt" in row)
    made = next(iter(SFTTrainer._prepare_dataset(trainer, one(row), tokenizer, arguments, False, None, "rows")))
    return made["input_ids"], [int(label != -100) for label in made["labels"]]


def dpo(tokenizer, row: dict) -> list[tuple[list[int], list[int]]]:
    arguments = SimpleNamespace(dataset_num_proc=None, max_length=None)
    if isinstance(row.get("prompt"), str) and isinstance(row["chosen"], list):
        row = {key: value for key, value in row.items() if key != "prompt"}  # as TRL's maybe_extract_prompt does
    made = next(iter(DPOTrainer._prepare_dataset(SimpleNamespace(_tokenizer=tokenizer), one(row), tokenizer, arguments, "rows")))
    return [(made["prompt_ids"] + made[key], [0] * len(made["prompt_ids"]) + [1] * len(made[key])) for key in ("chosen_ids", "rejected_ids")]


def cut(sequence: tuple[list[int], list[int]], tokenizer, stops: list[int]) -> tuple[list[int], list[int]] | None:
    """Without what follows the end of each turn; None: a turn has no end."""
    ids, mask = sequence[0], list(sequence[1])
    if 1 not in mask:
        return None
    for start, end in runs_of(mask):
        stop = first_stop(ids, (start, end), stops, tokenizer)
        if stop is None:
            return None
        mask[stop:end] = [0] * (end - stop)
    mask[0] = 0
    last = max((i for i, bit in enumerate(mask) if bit), default=-1) + 1
    return (ids[:last], mask[:last]) if last else None


def prepared(tokenizer, row: dict) -> list[tuple[list[int], list[int]]]:
    return dpo(tokenizer, row) if "chosen" in row else [sft(tokenizer, row)]


def of_answer(tokenizer, name: str, row: dict, key: str, whole: tuple, first: tuple, stops: list[int]) -> list | None:
    """The sequence; of several messages, all that is trained, in ascending order. `first`: the sequence with the first message alone."""
    prompt, answer = row["prompt"], row[key]
    tools = row.get("tools")
    options = {"tools": json.loads(tools) if isinstance(tools, str) else tools, **row.get("chat_template_kwargs", {})}
    texts = [tokenizer.apply_chat_template(each, tokenize=False, **options) for each in (prompt, prompt + answer)]
    opened = tokenizer.apply_chat_template(prompt, tokenize=False, add_generation_prompt=True, **options)
    if not texts[1].startswith(opened if prompt[-1]["role"] == "assistant" else texts[0].rstrip()):
        return None
    if len(answer) == 1:
        return cut(whole, tokenizer, stops)
    if sources(name)[1] is None:
        return None
    begun = cut(first, tokenizer, stops)
    places = [at for at, message in enumerate(answer) if at > 0 and message["role"] == "assistant"]
    turns = [begun and [id for id, bit in zip(*begun, strict=True) if bit], *(of_turn(tokenizer, name, prompt + answer[: at + 1], options) for at in places)]
    return None if None in turns else sorted(id for turn in turns for id in turn)


def of_row(tokenizer, name: str, row: dict) -> list | None:
    """Of each answer, or of the text; None: no reference."""
    stops = tokenizer.convert_tokens_to_ids(FAMILIES[name]["stops"])
    tokenizer.chat_template = sources(name)[0]
    try:
        wholes = prepared(tokenizer, row)
        if row.get("completion") == "" or (len(wholes) == 2 and row["chosen"] == row["rejected"]):
            return None  # refused: there is nothing to learn
        if isinstance(row.get("text", row.get("chosen", row.get("prompt"))), str):
            is_unasked = "chosen" in row and "prompt" not in row and extract_prompt(row)["prompt"] == ""  # refused, too
            return None if is_unasked else [[ids, [0, *mask[1:]]] for ids, mask in wholes]
        if not isinstance(row.get("prompt"), list):
            row = row | extract_prompt(row)
        keys = [key for key in ("completion", "chosen", "rejected") if key in row]
        firsts = prepared(tokenizer, row | {key: row[key][:1] for key in keys})
        answers = [of_answer(tokenizer, name, row, key, whole, first, stops) for key, whole, first in zip(keys, wholes, firsts, strict=True)]
        return None if None in answers or len(answers) > len({json.dumps(answer) for answer in answers}) else answers
    except Exception:  # noqa: BLE001 -- whatever a template raises
        return None


def digest(answers: list | None) -> str:
    return "-" if answers is None else hashlib.sha256(json.dumps(answers, separators=(",", ":")).encode()).hexdigest()[:12]


def main() -> None:
    datasets.disable_progress_bars()
    freeze_clock()
    make_examples.TOKENIZERS = {kind: json.dumps(files) for kind, files in json.loads((DIRECTORY / "tokenizers.json").read_text()).items()}
    writer = Writer(seed=1)
    rows = [writer.row() for _ in range(ROWS)]
    tokenizers = {name: dressed(kinds[0], name, sources(name)[0]) for name, kinds in COMBINATIONS.items()}
    if len(sys.argv) > 1:
        name, row = sys.argv[1], rows[int(sys.argv[2])]
        print(json.dumps(row, ensure_ascii=False), of_row(tokenizers[name], name, row), sep="\n")
        return
    cases = [[name, COMBINATIONS[name][0], " ".join(digest(of_row(tokenizers[name], name, row)) for row in rows)] for name in tokenizers]
    lines = [",\n".join(json.dumps(each, ensure_ascii=False) for each in part) for part in ([json.dumps(row, ensure_ascii=False) for row in rows], cases)]
    (DIRECTORY / "trl-rows.json").write_text(f'{{"made_with": {json.dumps(made_with("transformers", "tokenizers", "jinja2", "trl"))},\n"rows": [\n{lines[0]}\n],\n"cases": [\n{lines[1]}\n]}}\n')
    compared = [each for case in cases for each in case[2].split()]
    print(len(cases), "templates,", len(compared), "rows,", compared.count("-"), "without a reference")


if __name__ == "__main__":
    main()
