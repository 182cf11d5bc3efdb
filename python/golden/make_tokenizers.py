"""Writes test/support/golden/fixtures/tokenizers/<style>: a tiny byte-level BPE tokenizer with its chat template, and the results of
tokenizers and transformers for texts.py and conversations.py with it. Run through `npm run golden:make`.
"""

import json
import shutil
from pathlib import Path

from conversations import CONVERSATIONS, HARD_CONVERSATIONS, as_template_sees
from jinja2 import TemplateError
from provenance import FIXTURES, made_with
from texts import TEXTS, training_corpus
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

TEMPLATES = Path(__file__).parent / "chat_templates"
VOCAB = 480  # 256 bytes and 224 merges; added tokens come on top

# How the two families cut text into words; the patterns are part of their tokenizer.json files on the Hub. They differ
# in digits: one at a time (Qwen), up to three (Llama 3).
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}DIGITS| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_ADDED = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
QWEN_ADDED_NOT_SPECIAL = ["<tool_call>", "</tool_call>", "<think>", "</think>"]
LLAMA3_ADDED = ["<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"]


def train(digits: str, seed: int, ignore_merges: bool, normalizer: normalizers.Normalizer | None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    split = pre_tokenizers.Split(Regex(SPLIT.replace("DIGITS", digits)), behavior="isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCAB, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(training_corpus(seed), trainer)
    return tokenizer


def qwen_style() -> PreTrainedTokenizerFast:
    tokenizer = train("", seed=1, ignore_merges=False, normalizer=normalizers.NFC())
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in QWEN_ADDED])
    tokenizer.add_tokens([AddedToken(token, special=False, normalized=False) for token in QWEN_ADDED_NOT_SPECIAL])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")


def llama3_style() -> PreTrainedTokenizerFast:
    tokenizer = train("{1,3}", seed=2, ignore_merges=True, normalizer=None)
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in LLAMA3_ADDED])
    bos = LLAMA3_ADDED[0]
    template = processors.TemplateProcessing(
        single=f"{bos} $A", pair=f"{bos} $A {bos}:1 $B:1", special_tokens=[(bos, tokenizer.token_to_id(bos))]
    )
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=bos, eos_token="<|eot_id|>")


def expected_text(tokenizer: PreTrainedTokenizerFast, name: str, text: str) -> dict:
    ids = tokenizer.encode(text, add_special_tokens=False)
    return {
        "name": name,
        "text": text,
        "ids": ids,
        "idsWithSpecialTokens": tokenizer.encode(text, add_special_tokens=True),
        "decoded": tokenizer.decode(ids, skip_special_tokens=False),
        "decodedWithoutSpecialTokens": tokenizer.decode(ids, skip_special_tokens=True),
    }


def expected_conversation(tokenizer: PreTrainedTokenizerFast, name: str, request: dict) -> dict:
    request = {"add_generation_prompt": True, **request}
    options = {key: value for key, value in request.items() if key != "messages"}
    messages = [as_template_sees(message) for message in request["messages"]]
    try:
        rendered = tokenizer.apply_chat_template(messages, tokenize=False, **options)
    except TemplateError as error:
        return {"name": name, "arguments": request, "error": str(error)}
    ids = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False, **options)
    assert ids == tokenizer.encode(rendered, add_special_tokens=False)
    return {"name": name, "arguments": request, "rendered": rendered, "ids": ids}


def make(style: str, tokenizer: PreTrainedTokenizerFast, template_in_config: bool, without: tuple[str, ...] = ()) -> None:
    """Reads the template from chat_template.jinja (transformers 5) or from tokenizer_config.json (before)."""
    directory = FIXTURES / "tokenizers" / style
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    tokenizer.chat_template = (TEMPLATES / f"{style}.jinja").read_text()
    tokenizer.save_pretrained(directory)
    if template_in_config:
        move_template_into_config(directory)
    tokenizer = AutoTokenizer.from_pretrained(directory)
    conversations = [
        expected_conversation(tokenizer, name, request) for name, request in CONVERSATIONS.items() if name not in without
    ]
    expected = {
        "style": style,
        "madeWith": made_with("tokenizers", "transformers", "jinja2"),
        "tolerance": "none: strings and ids are equal",
        "texts": [expected_text(tokenizer, name, text) for name, text in TEXTS.items()],
        "conversations": [each for each in conversations if "error" not in each],
        "refusedConversations": [each for each in conversations if "error" in each],
        "hardConversations": [expected_conversation(tokenizer, *item) for item in HARD_CONVERSATIONS.items()],
    }
    (directory / "expected.json").write_text(json.dumps(expected, ensure_ascii=False, indent=1) + "\n")
    print(style, {key: len(value) for key, value in expected.items() if isinstance(value, list)})


def move_template_into_config(directory: Path) -> None:
    template = directory / "chat_template.jinja"
    config = json.loads((directory / "tokenizer_config.json").read_text())
    config["chat_template"] = template.read_text()
    (directory / "tokenizer_config.json").write_text(json.dumps(config, ensure_ascii=False, indent=2) + "\n")
    template.unlink()


def main() -> None:
    make("qwen", qwen_style(), template_in_config=False)
    # Its template expects text: it would print parts as Python prints a list.
    make("llama3", llama3_style(), template_in_config=True, without=("content in parts",))


if __name__ == "__main__":
    main()
