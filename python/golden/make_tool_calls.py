"""Writes test/support/golden/fixtures/tool-calls.json: what vLLM's tool parsers make of answers, whole and streamed token by token.

Answers (tool_answers.py) are complete, cut off, botched, nested and in many scripts. Arguments are stored as values: parsers write the
same JSON with other spaces. Null: an argument text that is no JSON. Needs vLLM 0.32 beside Transformers; not part of make_all.py, and
without gpt-oss, whose parser there reads token ids of a vocabulary that has to be downloaded.
"""

import json
import logging
import os

os.environ["VLLM_LOGGING_LEVEL"] = "CRITICAL"
logging.disable(logging.CRITICAL)

from provenance import FIXTURES, made_with  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from tool_answers import ANSWERS, TOOLS  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: E402
from vllm.tool_parsers import ToolParserManager  # noqa: E402

SPECIAL = {
    "hermes": ["<tool_call>", "</tool_call>"],
    "llama3_json": ["<|python_tag|>"],
    "pythonic": [],
    "llama4_pythonic": ["<|python_start|>", "<|python_end|>"],
    "mistral": ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"],
    "phi4_mini_json": ["<|tool_call|>", "<|/tool_call|>"],
    "granite": ["<|tool_call|>", "<tool_call>", "</tool_call>"],
    "granite4": ["<tool_call>", "</tool_call>"],
    "qwen3_coder": ["<tool_call>", "</tool_call>"],
    "functiongemma": ["<start_function_call>", "<end_function_call>", "<escape>"],
    "gemma4": ["<|tool_call>", "<tool_call|>", '<|"|>'],
}


def tokenizer_with(special: list[str]) -> PreTrainedTokenizerFast:
    """Bytes, and the markers as tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: id for id, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in [*special, "<eos>"]])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>")


def value_of(arguments: str | None) -> object:
    try:
        return json.loads(arguments) if arguments else {}
    except json.JSONDecodeError:
        return None


def whole(make_parser, text: str, request: ChatCompletionRequest) -> dict:
    found = make_parser().extract_tool_calls(text, request)
    calls = [[call.function.name, value_of(call.function.arguments)] for call in found.tool_calls]
    return {"content": found.content or "", "calls": calls}


def pieces(tokenizer: PreTrainedTokenizerFast, text: str) -> list[tuple[int, str]]:
    """Tokens with the text that each adds; bytes of a character arrive with its last one."""
    ids, made, done = tokenizer(text, add_special_tokens=False)["input_ids"], [], ""
    for end in range(1, len(ids) + 1):
        so_far = tokenizer.decode(ids[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False)
        added = "" if so_far.endswith("\ufffd") else so_far[len(done) :]
        done += added
        made.append((ids[end - 1], added))
    return made


def streamed(make_parser, tokenizer: PreTrainedTokenizerFast, text: str, request: ChatCompletionRequest) -> dict:
    parser, content, names, arguments, ids, so_far = make_parser(), "", {}, {}, [], ""
    deltas = []
    for id, added in pieces(tokenizer, text):
        deltas.append(parser.extract_tool_calls_streaming(so_far, so_far + added, added, ids, [*ids, id], [id], request))
        so_far, ids = so_far + added, [*ids, id]
    if hasattr(parser, "finish_streaming"):
        deltas.append(parser.finish_streaming())
    for delta in filter(None, deltas):
        content += delta.content or ""
        for call in delta.tool_calls or []:
            if call.function and call.function.name:
                names[call.index] = call.function.name
            if call.function and call.function.arguments:
                arguments[call.index] = arguments.get(call.index, "") + call.function.arguments
    if names and parser.prev_tool_call_arr:
        last = max(names)
        arguments[last] = arguments.get(last, "") + parser.get_remaining_unstreamed_args()
    return {"content": content, "calls": [[names[i], value_of(arguments.get(i))] for i in sorted(names)]}


def attempt(parse) -> dict | str:
    try:
        return parse()
    except Exception as error:  # noqa: BLE001 -- whatever a parser raises
        return type(error).__name__


def main() -> None:
    cases = []
    for name, texts in ANSWERS.items():
        tokenizer, Parser = tokenizer_with(SPECIAL[name]), ToolParserManager.get_tool_parser(name)
        request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "x"}], tools=TOOLS)

        def make_parser():
            return Parser(tokenizer, request.tools)

        for text in texts:
            cases.append([name, text, attempt(lambda: whole(make_parser, text, request)), attempt(lambda: streamed(make_parser, tokenizer, text, request))])
    content = {"madeWith": made_with("vllm", "transformers"), "tools": TOOLS, "cases": cases}
    lines = ",\n".join(json.dumps(case) for case in cases)
    head = json.dumps({key: content[key] for key in ("madeWith", "tools")})[:-1]
    (FIXTURES / "tool-calls.json").write_text(f'{head},\n"cases": [\n{lines}\n]}}\n')
    print(len(cases), "answers", len(ANSWERS), "syntaxes")


if __name__ == "__main__":
    main()
