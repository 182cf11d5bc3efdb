"""Writes test/support/golden/fixtures/examples/masks.json: which tokens of odd conversations are trained, for the templates of make_examples.py,
whose fixtures must exist. Conversations are put together at random, with a seed, so that pieces meet that nobody would write next to each other.

Each turn is Transformers' mask of the conversation that ends with it, cut as in make_examples.py: a template may write a turn in another way once
others follow, and it is trained as it was when it was new. Nothing is cut where the server has the template with its blocks. A row is a digest of all its trained tokens, in ascending order; "-" where no
reference says what is trained. Needs requirements-trl.txt; not part of make_all.py. With a template's name and the number of a row, it prints them.
"""

import hashlib
import json
import os
import sys

import make_examples
from conversations import ADD, WEATHER, assistant, system, user
from example_templates import FAMILIES, sources
from make_examples import COMBINATIONS, MARKS_PROMPT, dressed, first_stop, freeze_clock, is_whole, runs_of
from odd_conversations import Chance
from provenance import FIXTURES, made_with

DIRECTORY = FIXTURES / "examples"
ROWS = 40
TEXTS = ["Hello.", "Yes.", "same", "same", "", " ", "\n", "  padded \n\n", "Größe 今日は 🙂👩‍👩‍👧", "e\u0301 ﬁ Ａ", "<think>r</think>\n\nanswer", "<think>\nonly open", "<|im_end|>", "a <|im_end|> b", "x</s>", "<|eot_id|>mid", "a\r\nb", "\u2028x\u0085y\u00a0", "{{ messages }}{% if %}", "[INST] x [/INST]", "<|im_start|>assistant\nfake<|im_end|>\n", "\U000f5f5e x \U000f5f5f"]
CALLS = [{"type": "function", "function": {"name": name, "arguments": arguments}} for name, arguments in [("add", {"a": 1.0, "b": 2}), ("get_weather", {"city": 'é "q" 東京\n', "days": 3, "ok": True, "n": None}), ("noop", {})]]
FLAGS = [{"train": True}, {"train": False}, {"training": False}, {"weight": 0}, {"weight": 1}]


class Writer(Chance):
    def answer(self, calls: list[dict]) -> dict:
        message = assistant(self.any(["", self.any(TEXTS)]) if calls else self.any(TEXTS), **({"tool_calls": calls} if calls else {}))
        return message | ({"reasoning_content": self.any(["because", "multi\nline\n"])} if self.now(0.3) else {}) | (self.any(FLAGS) if self.now(0.15) else {})

    def turns(self, has_tools: bool) -> list[dict]:
        said = [user(self.any(TEXTS)) for _ in range(self.any([0, *[1] * 16, 2]))]
        if self.now(0.07):
            said.append(system(self.any(TEXTS)))
        calls = [self.any(CALLS) for _ in range(self.any([0, 1, 1, 2]))] if has_tools else []
        results = [{"role": "tool", "name": call["function"]["name"], "content": self.any(TEXTS)} for call in calls]
        return [*said, self.answer(calls), *results, *([self.answer([])] if calls or self.now(0.08) else [])]

    def row(self) -> dict:
        has_tools = self.now(0.35)
        messages = [*([system(self.any(TEXTS))] if self.now(0.3) else []), *([self.answer([])] if self.now(0.08) else [])]
        for _ in range(self.any([1, 1, 2, 3])):
            messages += self.turns(has_tools)
        return {"messages": messages, **({"tools": [ADD, WEATHER]} if has_tools else {}), **({"chat_template_kwargs": {"enable_thinking": self.now(0.5)}} if self.now(0.12) else {})}


def is_trained(message: dict) -> bool:
    return message["role"] == "assistant" and all(message.get(flag, True) for flag in ("train", "training", "weight"))


def of_turn(tokenizer, name: str, messages: list[dict], options: dict, whole: bool = False) -> list[int] | None:
    """The trained tokens of the last turn, or `whole`, all that Transformers marks of it; None: no reference."""
    template, marked = sources(name)

    def tokens(said: list[dict], **more: object):
        return tokenizer.apply_chat_template(said, tokenize=True, return_dict=True, chat_template=marked, **options, **more)

    texts = [tokenizer.apply_chat_template(messages, tokenize=False, chat_template=each, **options) for each in (template, marked)]
    read = tokens(messages, return_assistant_tokens_mask=True)
    runs = runs_of(read["assistant_masks"])
    if texts[0] != texts[1] or not runs:
        return None
    (start, end), ids = runs[-1], read["input_ids"]
    before = messages[:-1]
    # Blocks of two turns may meet: what is marked of the whole turn begins behind the conversation before it.
    prompt = tokens(before, add_generation_prompt=not whole)["input_ids"] if before else []
    if name in MARKS_PROMPT and (not before or ids[: len(prompt)] != prompt):
        return None
    start = max(start, 1, len(os.path.commonprefix([prompt, ids])))
    stop = first_stop(ids, (start, end), tokenizer.convert_tokens_to_ids(FAMILIES[name]["stops"]), tokenizer)
    return None if stop is None else ids[start : max(stop, end) if whole else stop]


def of_row(tokenizer, name: str, row: dict) -> list[int] | None:
    messages = [{key: value for key, value in message.items() if key not in ("train", "training", "weight")} for message in row["messages"]]
    options = {"tools": row.get("tools"), **row.get("chat_template_kwargs", {})}
    try:
        tokenizer.apply_chat_template(messages, tokenize=False, chat_template=sources(name)[0], **options)
        turns = [of_turn(tokenizer, name, messages[: place + 1], options, is_whole(name)) for place, message in enumerate(row["messages"]) if is_trained(message)]
    except Exception:  # noqa: BLE001 -- whatever a template raises
        return None
    return None if None in turns else sorted(id for turn in turns for id in turn)


def digest(ids: list[int] | None) -> str:
    return "-" if ids is None else hashlib.sha256(",".join(map(str, ids)).encode()).hexdigest()[:12]


def main() -> None:
    freeze_clock()
    make_examples.TOKENIZERS = {kind: json.dumps(files) for kind, files in json.loads((DIRECTORY / "tokenizers.json").read_text()).items()}
    writer = Writer(seed=1)
    rows = [writer.row() for _ in range(ROWS)]
    names = [name for name in COMBINATIONS if sources(name)[1] is not None]
    tokenizers = {name: dressed(COMBINATIONS[name][0], name, sources(name)[0]) for name in names}
    if len(sys.argv) > 1:
        name, row = sys.argv[1], rows[int(sys.argv[2])]
        print(json.dumps(row, ensure_ascii=False), of_row(tokenizers[name], name, row), sep="\n")
        return
    cases = [[name, COMBINATIONS[name][0], " ".join(digest(of_row(tokenizers[name], name, row)) for row in rows)] for name in names]
    lines = [",\n".join(json.dumps(each, ensure_ascii=False) for each in part) for part in ([json.dumps(row, ensure_ascii=False) for row in rows], cases)]
    (DIRECTORY / "masks.json").write_text(f'{{"made_with": {json.dumps(made_with("transformers", "tokenizers", "jinja2", "trl"))},\n"rows": [\n{lines[0]}\n],\n"cases": [\n{lines[1]}\n]}}\n')
    compared = [each for case in cases for each in case[2].split()]
    print(len(cases), "templates,", len(compared), "rows,", compared.count("-"), "without a reference")


if __name__ == "__main__":
    main()
