"""Writes test/support/golden/fixtures/tokenizers/classes.json: what AutoTokenizer makes of directories whose tokenizer.json (by its title in
tokenizer_configurations.py, with changes) stands beside a tokenizer_config.json, a config.json and older files that say something else.

Transformers builds some classes anew from the vocabulary, and adds the tokens that the other files name. A case is
`[title, files, class, named tokens, number of its results]`; a directory that Transformers cannot load has null for the class. Results are, for
each text, `[ids, ids with special tokens, text of these, the same without special tokens]`. `classes` are all those of Transformers that do
not take the whole file.
"""

import json
import os
import tempfile

import transformers
from make_tokenizer_corpus import file_of
from provenance import FIXTURES, known_fixture, made_with
from tokenizer_configurations import LLAMA_TOKENS, added, configurations, level, template
from transformers import AutoTokenizer
from transformers.tokenization_utils_tokenizers import TokenizersBackend

TEXTS = ["Hello word 2026 3.14", " two  spaces\n", "<s>Größe 🙂 e\u0301 the end </s>x", "a<|a|> b <|b|> c<|c|>d", "<|im_end|> <bos> don't ▁x\n\n y", "f(a42 }\n ๑ १७ \u00a0x", ""]
SERVED = ["llama", "qwen2", "qwen3", "qwen3_moe", "mistral", "mixtral", "smollm3", "granite", "olmo2", "olmo3", "phi3", "gemma2", "gemma3_text"]
BYTES, PIECES, SPACES, UNIGRAM = "digits and gpt2", "llama2", "gemma", "unigram"
QWEN = {"eos_token": "<|a|>", "pad_token": "<|b|>", "unk_token": None}
END = {"bos_token": "<s>", "eos_token": "</s>"}
TOKEN = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False, "special": True}
BOS = template([("<|a|>", 700)], [])


def case(title: str, model: str | dict, config: dict, *, changes: dict | None = None, padded: int = 0, **files) -> tuple[str, dict]:
    written = {"config.json": {"model_type": model} if isinstance(model, str) else model, "tokenizer_config.json": config}
    written |= {name.replace("__", ".") : content for name, content in files.items()}
    return title, {"changes": changes or {}, "padded": padded, "files": written}


def cases() -> list[tuple[str, dict]]:
    classes = ["GPT2Tokenizer", "GPT2TokenizerFast", "Qwen2Tokenizer", "CohereTokenizerFast", "GPTNeoXTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend", "NoSuchTokenizer", "LlamaTokenizerFast", "Qwen3_5Tokenizer", None]
    made = [case(BYTES, model, {**({"tokenizer_class": name} if name else {}), **QWEN}) for model in SERVED for name in classes]
    # The class of config.json, and flags of classes.
    made += [case(BYTES, {"model_type": model, "tokenizer_class": name}, QWEN) for model in ("llama", "qwen3", "granite", "gemma2") for name in ("GPT2Tokenizer", "PreTrainedTokenizerFast")]
    flags = [{"add_prefix_space": True}, {"add_bos_token": True, "bos_token": "<|a|>"}, {"bos_token": "<|a|>", "add_bos_token": False, "add_eos_token": True}, {"errors": "strict"}, {"split_special_tokens": False}]
    made += [case(BYTES, "llama", {"tokenizer_class": name, **QWEN, **flag}, changes=changes) for name in ("GPT2Tokenizer", "Qwen2Tokenizer", "CohereTokenizer", "GPTNeoXTokenizer", "PreTrainedTokenizerFast") for flag in flags for changes in ({}, {"post_processor": BOS}, {"post_processor": level(True, trim=False)})]
    made += [case(BYTES, "llama", {"tokenizer_class": name, **QWEN}, changes={"normalizer": {"type": "Lowercase"}, "decoder": None}) for name in ("GPT2Tokenizer", "Qwen2Tokenizer", "CohereTokenizer")]
    # Without names, a class has its own.
    made += [case(BYTES, "llama", {"tokenizer_class": name}) for name in ("GPT2Tokenizer", "Qwen2Tokenizer", "CohereTokenizer", "GPTNeoXTokenizer", "Qwen3_5Tokenizer")]
    for title in (PIECES, SPACES, "mistral"):
        names = ["GemmaTokenizer", "GemmaTokenizerFast", "CodeLlamaTokenizer", "LlamaTokenizer", "PreTrainedTokenizerFast", None]
        made += [case(title, model, {"tokenizer_class": name} if name else {}) for model in ("llama", "gemma2", "gemma3_text", "mistral", "smollm3", "qwen3", "phi3") for name in names]
        made += [case(title, "llama", {"tokenizer_class": name, **END, "unk_token": "<unk>", **flag}) for name in names[:4] for flag in ({"add_bos_token": True}, {"add_bos_token": False}, {"add_eos_token": True}, {"add_prefix_space": False}, {"legacy": True}, {"additional_special_tokens": ["word", "<new>"]})]
        made += [case(title, "gemma2", {"tokenizer_class": "GemmaTokenizer", "unk_token": "the", "bos_token": "<bos>", "mask_token": None}), case(title, "llama", {"tokenizer_class": "CodeLlamaTokenizer", "prefix_token": None, "suffix_token": "word"})]
    # A byte-level file whose class is for SentencePiece, and the other way round.
    made += [case(BYTES, model, {"tokenizer_class": name, **QWEN}) for model in ("llama", "gemma2", "qwen3", "mistral") for name in ("GemmaTokenizer", "CodeLlamaTokenizer")]
    made += [case(PIECES, model, {"tokenizer_class": name, **END}) for model in ("llama", "qwen3", "qwen2") for name in ("GPT2Tokenizer", "Qwen2Tokenizer", "CohereTokenizer", None)]
    # Unigram: its vocabulary is a list.
    for name in ("PreTrainedTokenizerFast", "LlamaTokenizer", None):
        config = {**({"tokenizer_class": name} if name else {}), "bos_token": "<s>"}
        made += [case(UNIGRAM, "llama", {**config, **more}, changes={"added_tokens": []}) for more in ({"eos_token": "</s>"}, {"eos_token": "</s>", "pad_token": "<new pad>", "additional_special_tokens": ["<x1>", "the"]}, {})]
    # Named tokens: of each file, in each form, in the vocabulary or not.
    for title in (BYTES, PIECES):
        for named in (
            {"eos_token": "the", "pad_token": "<pad>"},
            {"eos_token": "<|c|>"},
            {"additional_special_tokens": ["<|c|>", "the", "<|im_end|>"]},
            {"extra_special_tokens": ["<|im_end|>", "<bos>"], "additional_special_tokens": ["the"]},
            {"extra_special_tokens": {"boi_token": "<|im_end|>", "plain": "the"}, "image_token": "<bos>"},
            {"model_specific_special_tokens": {"boi_token": "<|im_end|>"}, "additional_special_tokens": ["don"]},
            {"model_specific_special_tokens": {"boi_token": "<|im_end|>"}, "image_token": "<bos>"},
            {"eos_token": {"__type": "AddedToken", "content": "<|im_end|>", **TOKEN, "rstrip": True, "special": False}},
            {"added_tokens_decoder": {"700": {"content": "<|a|>", **TOKEN, "rstrip": True}, "701": {"content": "<|b|>", **TOKEN}, "702": {"content": "<|c|>", **TOKEN}}},
            {"added_tokens_decoder": {"5": {"content": "the", **TOKEN, "special": False}, "900": {"content": "<|im_end|>", **TOKEN}, "12": {"content": "don", **TOKEN, "special": False}}, "eos_token": "don"},
            {"added_tokens_decoder": {}, "eos_token": "<|im_end|>"},
            {"added_tokens_decoder": {"901": {"content": "<bos>", **TOKEN, "normalized": True, "special": False}, "900": {"content": "<|im_end|>", **TOKEN, "lstrip": True}}, "eos_token": "<bos>"},
        ):
            for name in ("PreTrainedTokenizerFast", "GPT2Tokenizer" if title == BYTES else "LlamaTokenizer", "Qwen2Tokenizer" if title == BYTES else "GemmaTokenizer", "CohereTokenizer" if title == BYTES else "CodeLlamaTokenizer"):
                made.append(case(title, "llama", {"tokenizer_class": name, **named}))
        for special in (
            {"eos_token": "<|im_end|>", "pad_token": "the"},
            {"eos_token": {"content": "<|im_end|>", "lstrip": False, "rstrip": True, "single_word": False, "normalized": True}},
            {"additional_special_tokens": ["<|im_end|>", "<bos>"]},
            {"extra_special_tokens": ["<bos>"]},
            {"extra_special_tokens": {"boi_token": "<bos>"}},
            {"image_token": "<bos>"},
        ):
            for config in ({"eos_token": "<|a|>"}, {"eos_token": "<|a|>", "additional_special_tokens": ["the"]}, {"eos_token": "<|a|>", "added_tokens_decoder": {"701": {"content": "<|b|>", **TOKEN}}}, {"extra_special_tokens": ["the"]}):
                made.append(case(title, "llama", config, special_tokens_map__json=special))
        image = {"image_token": {"__type": "AddedToken", "content": "<|im_end|>", **TOKEN}}
        made.append(case(title, "llama", image, special_tokens_map__json={"image_token": "<bos>"}))
        made.append(case(title, "llama", {**image, "model_specific_special_tokens": {"boi_token": "the"}}))
        made.append(case(title, "llama", {}, special_tokens_map__json={"eos_token": {**TOKEN, "content": "</s>", "lstrip": True}}, added_tokens__json={"</s>": 3, "word": 3}))
        made.append(case(title, "llama", {"eos_token": "<|im_end|>"}, added_tokens__json={"<|im_end|>": 900, "the": 3, "<bos>": 899}))
        made.append(case(title, "llama", {"eos_token": "<|im_end|>", "added_tokens_decoder": {}}, added_tokens__json={"<|im_end|>": 900, "<bos>": 899}))
        made.append(case(title, "llama", {}, changes={"added_tokens": [{"id": 700, **added("<|a|>", special=False)}, {"id": 3, **added("the", special=False, normalized=True)}]}))
        made.append(case(title, "llama", {"eos_token": "<|a|>", "pad_token": "the"}, changes={"added_tokens": [{"id": 700, **added("<|a|>", special=False)}, {"id": 3, **added("the", special=False, normalized=True)}]}))
        # A token that was normalized stays so for the decoder; roles with one token; flags in tokenizer_config.json beside added_tokens.json.
        again = {"content": "</s>", **TOKEN, "special": False}
        made.append(case(title, "llama", {"added_tokens_decoder": {"30": {**again, "normalized": True}, "701": {**again, "lstrip": True}}}))
        flagged = {"__type": "AddedToken", "content": "<|im_end|>", **TOKEN, "rstrip": True}
        made.append(case(title, "llama", {"bos_token": "<|im_end|>", "eos_token": flagged, "image_token": "<|im_end|>"}))
        made.append(case(title, "llama", {"eos_token": flagged}, added_tokens__json={"<|im_end|>": 900}))
        made.append(case(title, "llama", {"additional_special_tokens": [flagged, "<bos>"]}, added_tokens__json={"<|im_end|>": 900, "<bos>": 901}))
        made.append(case(title, "llama", {"additional_special_tokens": ["<bos>"], "extra_special_tokens": {"boi_token": "the"}}, added_tokens__json={"<bos>": 901}))
    # The processor, which add_bos_token and add_eos_token do not change if there is a tokenizer.json.
    for flag in ({"add_bos_token": True}, {"add_bos_token": False}, {"add_eos_token": True}, {"add_bos_token": True, "add_eos_token": True}):
        for processor in (None, level(True, trim=False), template([("<s>", 1)], []), template([("<s>", 1)], [("</s>", 2)])):
            made += [case(PIECES, model, {**END, **flag}, changes={"post_processor": processor}) for model in ("llama", "mistral", "qwen3", "gemma2")]
    # A wrong expression of early files, in vocabularies of more than 100,000 tokens.
    fixed = {"fix_mistral_regex": True}
    versions = ({}, {"transformers_version": "4.50.0"}, {"transformers_version": "5.0.0"})
    made += [case("gpt2", {"model_type": "mistral", **version}, fixed, padded=100_001) for version in versions]
    made += [case("gpt2", "mistral", {}, padded=100_001), case("gpt2", "mistral", fixed, padded=99_000), case("gpt2", "mixtral", fixed, padded=100_001)]
    made += [case(title, "mistral", fixed, padded=100_001) for title in ("gpt2's own", "mistral")]
    return made


def padded(model: dict, size: int) -> dict:
    """With tokens that no text has, up to this size."""
    return {**model, "vocab": model["vocab"] | {f"<pad {id}>": id for id in range(len(model["vocab"]), size)}}


def read(title: str, directory: dict, models: dict, known: dict) -> list:
    file = file_of(known[title], models) | directory["changes"]
    if directory["padded"]:
        file["model"] = padded(file["model"], directory["padded"])
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {"tokenizer.json": file, **directory["files"]}.items():
            with open(os.path.join(folder, name), "w") as opened:
                json.dump(content, opened)
        try:
            tokenizer = AutoTokenizer.from_pretrained(folder)
            found = []
            for text in TEXTS:
                ids = tokenizer(text, add_special_tokens=False)["input_ids"]
                whole = tokenizer(text)["input_ids"]
                texts = [tokenizer.decode(whole, skip_special_tokens=skip, clean_up_tokenization_spaces=False) for skip in (False, True)]
                found.append([ids, whole, *texts])
        except Exception as error:  # noqa: BLE001 -- whatever it cannot load
            return [title, directory, None, str(error)[:80], []]
    return [title, directory, type(tokenizer).__name__, tokenizer.special_tokens_map, found]


def rebuilt_classes() -> list[str]:
    """All classes that do not hand the whole file to the package: those with a way of their own to make a tokenizer, and those in Python."""
    found = []
    for name in dir(transformers):
        if not name.endswith("Tokenizer") or "Dummy" in name:
            continue
        try:
            each = getattr(transformers, name)
        except Exception:  # noqa: BLE001 -- a package that is not installed
            found.append(name)
            continue
        if isinstance(each, type) and not (issubclass(each, TokenizersBackend) and "__init__" not in each.__dict__):
            found.append(name)
    return sorted(set(found) - {"PreTrainedTokenizer", "AutoTokenizer", "PythonBackend"})


def main() -> None:
    models, known = known_fixture("tokenizers/corpus.json")["models"], configurations()
    found = [read(title, directory, models, known) for title, directory in cases()]
    path = FIXTURES / "tokenizers" / "classes.json"
    results: dict[str, int] = {}
    for each in found:
        each[4] = results.setdefault(json.dumps(each[4], ensure_ascii=False), len(results))
    head = json.dumps({"madeWith": made_with("transformers", "tokenizers"), "classes": rebuilt_classes(), "texts": TEXTS}, ensure_ascii=False)[:-1]
    lines = [json.dumps(each, ensure_ascii=False) for each in found]
    path.write_text(f'{head},\n"results": [\n' + ",\n".join(results) + '\n],\n"cases": [\n' + ",\n".join(lines) + "\n]}\n")
    print("classes", len(found), "directories", sum(each[2] is None for each in found), "refused", path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
