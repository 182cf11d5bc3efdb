"""Writes test/support/golden/fixtures/examples: the tokens of conversations, and which of them are trained, as Transformers gives them.

Tokens: `apply_chat_template(…, tokenize=True)` of the model's template. Trained: `return_assistant_tokens_mask` of the same template with
{% generation %} (example_templates.py) where both write the same text. TRL's templates also mark what ends the prompt (the marker of
the assistant, <think>) and the line break after the turn, so each run of the mask is cut: it begins where the generation prompt ends,
and ends with the first token that ends a generation. Where the server has the template with {% generation %}, nothing is cut. Where the template writes no such token, each turn is a sequence that ends with
the model's own. Without a mask (null): templates that TRL has no second version of, and conversations whose earlier turns change once
others follow. Needs requirements-trl.txt; not part of make_all.py.
"""

import json
import os
import re
from datetime import datetime

from conversations import ADD, WEATHER, assistant, system, user
from example_templates import FAMILIES, sources
from jinja2 import TemplateError
from provenance import FIXTURES, made_with
from texts import training_corpus
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast
import transformers.utils.chat_template_utils as chat_template_utils

VOCAB = 420
SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SPECIAL = re.compile(r"<\|[^|<>{}' ]+\|>|<｜[^｜<>' ]+｜>|<start_of_turn>|<end_of_turn>|\[gMASK\]|<sop>|<BOS_TOKEN>")
NOW = datetime(2026, 3, 5, 14, 7)


def byte_level(prefix: bool, normalizer=None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    if normalizer:
        tokenizer.normalizer = normalizer
    split = pre_tokenizers.Split(Regex(SPLIT), "isolated")
    level = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=prefix)
    tokenizer.pre_tokenizer = level if prefix else pre_tokenizers.Sequence([split, level])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    trainer = trainers.BpeTrainer(vocab_size=VOCAB, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    tokenizer.train_from_iterator(training_corpus(7), trainer)
    return tokenizer


def sentencepiece(normalizer, pre_tokenizer, strips: bool) -> Tokenizer:
    """BPE over characters, with bytes for the others, as Llama 2's and Gemma's converters write it."""
    trained = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    trained.normalizer = normalizers.Replace(" ", "▁")
    trained.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    trained.train_from_iterator(
        training_corpus(8), trainers.BpeTrainer(vocab_size=VOCAB + 100, special_tokens=["<unk>", *BYTES], limit_alphabet=60, show_progress=False)
    )
    model = json.loads(trained.to_str())["model"]
    tokenizer = Tokenizer(models.BPE(model["vocab"], [tuple(merge) for merge in model["merges"]], unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    ends = [decoders.Strip(content=" ", left=1)] if strips else []
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), *ends])
    return tokenizer


def unigram(scheme: str, fallback: bool, normalizer) -> Tokenizer:
    trained = Tokenizer(models.Unigram())
    trained.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    trained.train_from_iterator(training_corpus(9), trainers.UnigramTrainer(vocab_size=300, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False))
    pieces = [tuple(piece) for piece in json.loads(trained.to_str())["model"]["vocab"]]
    if fallback:
        pieces = [pieces[0], *((byte, -20.0) for byte in BYTES), *pieces[1:]]
    tokenizer = Tokenizer(models.Unigram(pieces, 0, fallback))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
    return tokenizer


SPACE = normalizers.Replace(" ", "▁")
KINDS = {
    "bytes": lambda: byte_level(False),
    "bytes-nfc": lambda: byte_level(False, normalizers.NFC()),
    "bytes-prefix": lambda: byte_level(True),
    "pieces-prefix": lambda: sentencepiece(normalizers.Sequence([normalizers.Prepend("▁"), SPACE]), None, True),
    "pieces-first": lambda: sentencepiece(None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False), True),
    "pieces-plain": lambda: sentencepiece(SPACE, None, False),
    "unigram-always": lambda: unigram("always", False, normalizers.NFKC()),
    "unigram-fallback": lambda: unigram("never", True, None),
}
# Each family with the tokenizers of the kinds that its models have, and one of another kind.
COMBINATIONS = {
    "llama2": ["pieces-prefix", "pieces-first", "unigram-always"],
    "mistral": ["pieces-prefix", "bytes"],
    "mistral-spaced": ["pieces-prefix", "pieces-first"],
    "chatml": ["bytes-nfc", "pieces-prefix", "pieces-first", "unigram-always", "bytes-prefix"],
    "chatml-broken-line": ["bytes", "pieces-prefix", "unigram-fallback"],
    "zephyr": ["pieces-prefix", "unigram-always", "bytes"],
    "vicuna": ["pieces-prefix", "unigram-always", "bytes"],
    "no-end": ["bytes", "pieces-prefix"],
    "instructions": ["bytes-prefix", "pieces-first"],
    "llama3": ["bytes", "unigram-fallback"],
    "llama3_1": ["bytes"],
    "gemma": ["pieces-plain", "unigram-fallback"],
    "gemma3": ["pieces-plain"],
    "phi3": ["pieces-prefix", "bytes"],
    "phi3_5": ["pieces-prefix"],
    "qwen2_5": ["bytes-nfc"],
    "qwen3": ["bytes-nfc", "pieces-plain"],
    "qwen3_instruct_2507": ["bytes-nfc"],
    "cohere": ["bytes-nfc"],
    "deepseekv3": ["bytes"],
    "deepseek_r1_distill": ["bytes"],
    "glm4moe": ["bytes", "pieces-plain"],
    "gptoss": ["bytes"],
    "lfm2": ["bytes"],
    "lfm2_v2": ["bytes", "unigram-fallback"],
    "nemotron_3_nano": ["bytes"],
    "openchat": ["pieces-prefix", "bytes"],
    "phi4": ["bytes"],
    "granite3": ["bytes", "pieces-plain"],
    "tulu": ["bytes"],
    "deepseek-chat": ["bytes", "pieces-first"],
    "solar": ["pieces-prefix"],
    "exaone": ["bytes-nfc"],
    "falcon": ["bytes", "unigram-always"],
    "mistral-v7": ["bytes", "pieces-prefix"],
    "minicpm": ["pieces-prefix", "unigram-fallback"],
    "cohere2": ["bytes-nfc"],
    "nemotron_3_super": ["bytes"],
    "nemotron_3_5_lightning": ["bytes"],
    "qwen3_5_think": ["bytes-nfc"],
    "qwen3_5_nothink": ["bytes-nfc"],
    "qwen3_6": ["bytes-nfc"],
    "qwen3_8": ["bytes-nfc"],
    "chatml-marked": ["bytes-nfc", "pieces-prefix"],
    "qwen3-marked": ["bytes-nfc"],
    "glm4moe-marked": ["bytes"],
    "smollm3-marked": ["bytes"],
}

# TRL's second version of these also marks what the generation prompt writes.
MARKS_PROMPT = {"qwen2_5", "deepseekv3", "deepseek_r1_distill", "nemotron_3_nano", "nemotron_3_super", "nemotron_3_5_lightning", "qwen3_8", "gptoss", "cohere2"}

CALL = {"type": "function", "function": {"name": "add", "arguments": {"a": 1.0, "b": 2}}}
CONVERSATIONS: dict[str, dict] = {
    "one turn": {"messages": [user("Yes or no?"), assistant("Yes.")]},
    "system": {"messages": [system("Be brief."), user("Hi"), assistant("Hello!")]},
    "five turns": {
        "messages": [
            message
            for question, answer in [
                ("Hello", "Hello there."),
                ("Größe?  Two spaces", "maß 🚀\nand a line"),
                ("1 + 2 = ?", "3"),
                ("今日は 🙂", "¿Qué? Ａ ﬁ e\u0301"),
                ("Bye", "Good-bye."),
            ]
            for message in (user(question), assistant(answer))
        ]
    },
    "empty answer": {"messages": [user("Say nothing."), assistant(""), user("Thanks"), assistant("Sure")]},
    "spaces at the ends": {"messages": [user(" Hi \n"), assistant(" Hello \n"), user("x"), assistant("y ")]},
    "the assistant begins": {"messages": [assistant("How can I help?"), user("Add."), assistant("Done.")]},
    "tools": {
        "messages": [
            user("1 + 2?"),
            assistant("", tool_calls=[CALL]),
            {"role": "tool", "name": "add", "content": "3"},
            assistant("It is 3."),
        ],
        "tools": [ADD, WEATHER],
    },
    "reasoning": {
        "messages": [
            user("2 + 2?"),
            assistant("4", reasoning_content="two and two"),
            user("3 + 3?"),
            assistant("6", reasoning_content="three and three"),
        ]
    },
    "content in parts": {"messages": [user([{"type": "text", "text": "first "}, {"type": "text", "text": "second"}]), assistant("Both.")]},
}
# Where Transformers gives the template something else than a server does, or the template drops what is not text.
ONLY_FOR = {"content in parts": {"gemma3", "glm4moe"}, "tools": {"qwen3_5_think", "qwen3_5_nothink", "qwen3_6", "qwen3_8", "nemotron_3_super", "qwen2_5", "qwen3", "qwen3_instruct_2507", "glm4moe", "lfm2_v2", "llama3_1", "nemotron_3_nano", "gptoss"}, "reasoning": {"qwen3_5_think", "qwen3_5_nothink", "qwen3_6", "qwen3_8", "nemotron_3_super", "qwen3", "glm4moe", "gptoss", "nemotron_3_nano", "chatml"}}


def dressed(kind: str, name: str, template: str) -> PreTrainedTokenizerFast:
    """The tokenizer with the template's special tokens."""
    family = FAMILIES[name]
    tokenizer = Tokenizer.from_str(TOKENIZERS[kind])
    names = [*family["stops"], *([family["bos"]] if "bos" in family else []), *family.get("added", []), *SPECIAL.findall(template)]
    options = family.get("options", {})
    tokenizer.add_special_tokens([AddedToken(each, special=True, normalized=False, **options) for each in dict.fromkeys(names)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=family["stops"][0], **({"bos_token": family["bos"]} if "bos" in family else {}))


def runs_of(mask: list[int]) -> list[tuple[int, int]]:
    edges = [i for i in range(len(mask) + 1) if (mask[i - 1] if i else 0) != (mask[i] if i < len(mask) else 0)]
    return list(zip(edges[::2], edges[1::2], strict=True))


def reference(tokenizer: PreTrainedTokenizerFast, name: str, template: str, marked: str | None, request: dict, stops: list[str]) -> dict:
    messages, tools = request["messages"], request.get("tools")
    options = {"tools": tools, "chat_template": template}
    text = tokenizer.apply_chat_template(messages, tokenize=False, **options)
    ids = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False, **options)
    if marked is None or (messages[0]["role"] == "assistant" and name in MARKS_PROMPT):
        return {"ids": ids, "sequences": None}
    options["chat_template"] = marked
    whole = tokenizer.apply_chat_template(messages, tokenize=False, **options)
    if not whole.startswith(text):
        return {"ids": ids, "sequences": None}
    read = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=True, return_assistant_tokens_mask=True, **options)
    whole_ids, runs = read["input_ids"], runs_of(read["assistant_masks"])
    if len(runs) != sum(message["role"] == "assistant" for message in messages):
        return {"ids": ids, "sequences": None}
    stop_ids = tokenizer.convert_tokens_to_ids(stops)
    offsets = tokenizer(whole, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    places = [i for i, message in enumerate(messages) if message["role"] == "assistant"]
    if not is_whole(name):
        runs = [(max(start, prompt_length(tokenizer, whole_ids, messages[:place], options)), end) for place, (start, end) in zip(places, runs, strict=True)]
    ends = [first_stop(whole_ids, run, stop_ids, tokenizer) for run in runs]
    if len({end is None for end in ends}) == 2:
        return {"ids": ids, "sequences": None}
    own = [through(tokenizer, messages[: place + 1], whole, {**options, "chat_template": template}) for place in places]
    if any(end is not None and not each.startswith(whole[: offsets[end - 1][1]].removesuffix("<|user|>").removesuffix("<|observation|>")) for each, end in zip(own, ends, strict=True)):
        return {"ids": ids, "sequences": None}
    if all(end is not None for end in ends):
        ends = [max(stop, end) if is_whole(name) else stop for stop, (_, end) in zip(ends, runs, strict=True)]
        length = ends[-1]
        mask = [0] * length
        for (start, _), end in zip(runs, ends, strict=True):
            mask[start:end] = [1] * (end - start)
        mask[0] = 0  # nothing precedes it
        sequences = [(whole_ids[:length], mask)]
    else:
        sequences = []
        for start, end in runs:
            said = whole[: offsets[end - 1][1]].rstrip()
            if len(said) <= offsets[start][0]:
                said = whole[: offsets[start][0]]
            own = tokenizer(said, add_special_tokens=False)["input_ids"]
            assert own[:start] == whole_ids[:start] or len(own) < start
            sequences.append((own + stop_ids[:1], [0] * min(start, len(own)) + [1] * (len(own) + 1 - min(start, len(own)))))
    return {"ids": ids, "sequences": [{"ids": each, "trained": runs_of(mask)} for each, mask in sequences]}


def is_whole(name: str) -> bool:
    """Whether all that the blocks hold is trained: they are the server's own."""
    return name.endswith("-marked")


def through(tokenizer, messages: list[dict], whole: str, options: dict) -> str:
    """The conversation as it is when its last turn is new; the whole one where the template refuses that."""
    try:
        return tokenizer.apply_chat_template(messages, tokenize=False, **options)
    except TemplateError:
        return whole


def prompt_length(tokenizer, whole_ids: list[int], before: list[dict], options: dict) -> int:
    """How many tokens the conversation and the prompt of the turn begin with; 0 if nothing precedes it."""
    if not before:
        return 0
    prompt = tokenizer.apply_chat_template(before, tokenize=True, return_dict=False, add_generation_prompt=True, **options)
    return len(os.path.commonprefix([prompt, whole_ids]))


def first_stop(ids: list[int], run: tuple[int, int], stops: list[int], tokenizer) -> int | None:
    """Where the first token that ends a generation ends, among those with which the run ends; None: there is none."""
    start, end = run
    at = end
    while at > start and (ids[at - 1] in stops or tokenizer.decode([ids[at - 1]]).strip() == ""):
        at -= 1
    return next((i + 1 for i in range(at, end) if ids[i] in stops), None)


def freeze_clock() -> None:
    class Frozen(datetime):
        @classmethod
        def now(cls, tz=None):
            return NOW

    chat_template_utils.datetime = Frozen


def main() -> None:
    freeze_clock()
    cases, templates = [], {}
    for name, kinds in COMBINATIONS.items():
        template, marked = sources(name)
        templates[name] = template
        for kind in kinds:
            tokenizer = dressed(kind, name, template)
            added = json.loads(tokenizer.backend_tokenizer.to_str())["added_tokens"]
            conversations = []
            for title, request in CONVERSATIONS.items():
                if name not in ONLY_FOR.get(title, {name}):
                    continue
                try:
                    conversations.append({"name": title, **reference(tokenizer, name, template, marked, request, FAMILIES[name]["stops"])})
                except TemplateError as error:
                    conversations.append({"name": title, "refused": str(error)})
            cases.append({"template": name, "tokenizer": kind, "stops": FAMILIES[name]["stops"], "bos": FAMILIES[name].get("bos"), "added": added, "conversations": conversations})
    directory = FIXTURES / "examples"
    directory.mkdir(exist_ok=True)
    expected = {"madeWith": made_with("transformers", "tokenizers", "jinja2", "trl"), "now": NOW.isoformat(), "rows": {title: json.dumps(row, ensure_ascii=False) for title, row in CONVERSATIONS.items()}, "templates": templates, "cases": cases}
    (directory / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n")
    (directory / "tokenizers.json").write_text(json.dumps({kind: json.loads(text) for kind, text in TOKENIZERS.items()}, ensure_ascii=False) + "\n")
    compared = [each for case in cases for each in case["conversations"]]
    print("examples:", len(cases), "combinations,", len(compared), "conversations,", sum(bool(each.get("sequences")) for each in compared), "with a mask,", sum("refused" in each for each in compared), "refused")


if __name__ == "__main__":
    TOKENIZERS = {kind: make().to_str() for kind, make in KINDS.items()}
    main()
