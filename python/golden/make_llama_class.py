"""Writes test/support/golden/fixtures/tokenizers/llama-class.json: what AutoTokenizer makes of a file of Llama 2's kind (the configuration
"llama2" of tokenizer_configurations.py), whose class in tokenizer_config.json and model in config.json differ: ids and decoded text.

Transformers builds some of them anew from the vocabulary. A case is `[what the two files have, [text, ids, ids with special tokens, text]…]`.
"""

import json
import os
import tempfile

from make_tokenizer_corpus import file_of
from provenance import FIXTURES, made_with
from tokenizer_configurations import configurations, make_models
from transformers import AutoTokenizer

TEXTS = ["Hello word", " two  spaces ", "<s>[INST] Größe 🙂 [/INST] the end </s><s>x", "a<|a|> b<|b|>c", "▁x\n\ty", "", " ", "<s>", "天 <unk> é"]
NAMED = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
CLASSES = [
    {"tokenizer_class": "LlamaTokenizer"},
    {"tokenizer_class": "LlamaTokenizerFast", "legacy": False},
    {"tokenizer_class": "LlamaTokenizer", "legacy": True},
    {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False},
    {"tokenizer_class": "PreTrainedTokenizerFast"},
    {},
]
CASES = [("llama", each) for each in CLASSES] + [
    (model, CLASSES[1]) for model in ["mistral", "mixtral", "phi3", "olmo2", "olmo3", "granite", "smollm3"]
]


def main() -> None:
    file, cases = file_of(configurations()["llama2"], make_models()), []
    for model, config in CASES:
        with tempfile.TemporaryDirectory() as directory:
            written = {"tokenizer.json": file, "tokenizer_config.json": {**NAMED, **config}, "config.json": {"model_type": model}}
            for name, content in written.items():
                with open(os.path.join(directory, name), "w") as opened:
                    json.dump(content, opened)
            tokenizer = AutoTokenizer.from_pretrained(directory)
        read = []
        for text in TEXTS:
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            read.append([text, ids, tokenizer(text)["input_ids"], tokenizer.decode(ids, clean_up_tokenization_spaces=False)])
        cases.append([{"model_type": model, **config}, type(tokenizer).__name__, read])
    path = FIXTURES / "tokenizers" / "llama-class.json"
    head = json.dumps({"madeWith": made_with("transformers", "tokenizers"), "named": NAMED})[:-1]
    path.write_text(f'{head},\n"cases": [\n' + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "\n]}\n")
    print("llama class", len(cases), "directories", len(TEXTS), "texts")


if __name__ == "__main__":
    main()
