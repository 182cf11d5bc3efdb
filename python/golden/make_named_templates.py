"""Writes test/support/golden/fixtures/templates/named.json: which of a model's templates Transformers renders with, for requests with and without
tools and a name. A case is `[files, [text or null, if Transformers raises, …]]`, one text for each request.
"""

import json
import os
import tempfile

from conversations import ADD
from make_tokenizer_corpus import file_of
from provenance import FIXTURES, known_fixture, made_with
from tokenizer_configurations import configurations
from transformers import AutoTokenizer

MESSAGES = [{"role": "user", "content": "Hi"}]
REQUESTS = [{}, {"tools": [ADD]}, {"chat_template": "rag"}, {"chat_template": "tool_use"}, {"chat_template": "default", "tools": [ADD]}]
FILE, MORE = "chat_template.jinja", "additional_chat_templates/"


def of(name: str) -> str:
    return name + ": {{ messages[0].content }}"


def listed(*names: str) -> dict:
    return {"chat_template": [{"name": name, "template": of(name)} for name in names]}


CASES = [
    {FILE: of("file")},
    {FILE: of("file"), MORE + "rag.jinja": of("rag")},
    {FILE: of("file"), MORE + "rag.jinja": of("rag"), MORE + "tool_use.jinja": of("tool_use"), MORE + "notes.txt": "no"},
    {FILE: of("file"), MORE + "default.jinja": of("another default")},
    {FILE: of("file"), "tokenizer_config.json": listed("default", "rag")},
    {MORE + "rag.jinja": of("rag"), "tokenizer_config.json": {"chat_template": of("configured")}},
    {MORE + "default.jinja": of("default"), "tokenizer_config.json": {"chat_template": of("configured")}},
    {MORE + "rag.jinja": of("rag")},
    {MORE + "tool_use.jinja": of("tool_use")},
    {MORE + "rag.jinja": of("rag"), MORE + "tool_use.jinja": of("tool_use")},
    {"tokenizer_config.json": {"chat_template": of("configured")}},
    {"tokenizer_config.json": listed("default")},
    {"tokenizer_config.json": listed("default", "rag", "tool_use")},
    {"tokenizer_config.json": listed("rag")},
    {"tokenizer_config.json": listed("rag", "tool_use")},
]


def rendered(tokenizer, request: dict) -> str | None:
    try:
        return tokenizer.apply_chat_template(MESSAGES, tokenize=False, **request)
    except ValueError:
        return None


def main() -> None:
    file = file_of(configurations()["gpt2"], known_fixture("tokenizers/corpus.json")["models"])
    found = []
    for files in CASES:
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(os.path.join(directory, MORE))
            for name, content in {"tokenizer.json": file, "config.json": {"model_type": "llama"}, **files}.items():
                with open(os.path.join(directory, name), "w") as opened:
                    opened.write(content if isinstance(content, str) else json.dumps(content))
            tokenizer = AutoTokenizer.from_pretrained(directory)
            found.append([files, [rendered(tokenizer, request) for request in REQUESTS]])
    path = FIXTURES / "templates" / "named.json"
    head = json.dumps({"madeWith": made_with("transformers"), "messages": MESSAGES, "requests": REQUESTS})[:-1]
    path.write_text(f'{head},\n"cases": [\n' + ",\n".join(map(json.dumps, found)) + "\n]}\n")
    print("named templates", len(found))


if __name__ == "__main__":
    main()
