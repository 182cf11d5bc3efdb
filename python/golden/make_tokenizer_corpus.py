"""Writes test/support/golden/fixtures/tokenizers/corpus.json: what the tokenizers package makes of 200 texts (tokenizer_texts.py) with 100
tokenizers (tokenizer_configurations.py). Of ids, places and decoded text only digests are kept, because the whole would be 100 MB.

With a title of a tokenizer and one of a text, it prints what they give instead. Run through `npm run golden:make`.
"""

import hashlib
import json
import random
import re
import sys

from provenance import FIXTURES, made_with
from tokenizer_configurations import configurations, make_models
from tokenizer_texts import all_texts
from tokenizers import Tokenizer

BYTE = re.compile(r"<0x[0-9A-F]{2}>")
SEQUENCES = 8


def file_of(configuration: dict, models: dict) -> dict:
    model = {**models[configuration["model"]], **configuration["changes"]}
    vocab = model["vocab"]
    known = dict(vocab) if isinstance(vocab, dict) else {token: id for id, (token, _) in enumerate(vocab)}
    tokens, following = [], len(vocab)
    for token in configuration["added_tokens"]:
        id = known.get(token["content"], following)
        following += token["content"] not in known
        tokens.append({"id": id, **token})
    parts = {name: configuration[name] for name in ["normalizer", "pre_tokenizer", "post_processor", "decoder"]}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": tokens, **parts, "model": model}


def digest(value) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()[:6]


def decoded(tokenizer: Tokenizer, ids: list[int]) -> str:
    """A digest of the text, without and with special tokens; "panics" where the library does."""
    try:
        return digest([tokenizer.decode(ids, skip_special_tokens=skip) if ids else "" for skip in (True, False)])
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        return "panics"


def results(tokenizer: Tokenizer, text: str) -> str:
    """Digests of ids, places and decoded text; "none" if the text has no tokens in this vocabulary."""
    try:
        plain = tokenizer.encode(text, add_special_tokens=False)
        whole = tokenizer.encode(text)
    except Exception:
        return "none"
    return digest([plain.ids, whole.ids]) + digest([list(map(list, each.offsets)) for each in (plain, whole)]) + decoded(tokenizer, whole.ids)


def sequences(tokenizer: Tokenizer, seed: int) -> list[list[int]]:
    """Tokens in no order that a text could have; byte tokens only as whole characters."""
    vocabulary = tokenizer.get_vocab()
    bytes_ = {token for token in vocabulary if BYTE.fullmatch(token)}
    ids = sorted(id for token, id in vocabulary.items() if token not in bytes_)
    characters = [[vocabulary[f"<0x{byte:02X}>"] for byte in each.encode()] for each in "é天z"] if len(bytes_) == 256 else []
    random_ = random.Random(seed)
    return [
        [id for _ in range(3 + i) for id in (random_.choice(characters) if characters and random_.random() < 0.3 else [random_.choice(ids)])]
        for i in range(SEQUENCES)
    ]


def main() -> None:
    models, texts, made = make_models(), all_texts(), {}
    for title, configuration in configurations().items():
        tokenizer = Tokenizer.from_str(json.dumps(file_of(configuration, models)))
        if len(sys.argv) > 1:
            if title == sys.argv[1]:
                encoding = tokenizer.encode(texts[sys.argv[2]], add_special_tokens=False)
                print(encoding.tokens, encoding.ids, encoding.offsets, repr(tokenizer.decode(encoding.ids)), sep="\n")
            continue
        found = [results(tokenizer, text) for text in texts.values()]
        numbers = sequences(tokenizer, len(made))
        made[title] = {
            **{name: value for name, value in configuration.items() if value not in (None, {})},
            # For each text: ids, places, decoded text.
            "digests": " ".join(found),
            "sequences": [[ids, decoded(tokenizer, ids)] for ids in numbers],
        }
    if len(sys.argv) > 1:
        return
    corpus = {
        "madeWith": made_with("tokenizers"),
        "tolerance": "none: digests of ids, places and text are equal",
        "models": models,
        "texts": texts,
        "configurations": made,
    }
    file = FIXTURES / "tokenizers" / "corpus.json"
    file.write_text(json.dumps(corpus, ensure_ascii=True, separators=(",", ":")).replace('},"', '},\n"') + "\n")
    print("corpus", len(made), "tokenizers", len(texts), "texts", file.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
