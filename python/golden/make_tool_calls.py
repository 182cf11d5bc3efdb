"""Writes test/support/golden/fixtures/tool-calls.json: what vLLM's tool parsers make of answers, whole and streamed token by token.

Answers (tool_answers.py) are complete, cut off, botched, nested and in many scripts; some have reasoning, after a prompt that may begin it.
Arguments are stored as values: parsers write the same JSON with other spaces. Null: an argument text that is no JSON. gpt-oss's answers have their reasoning, too: its parser reads token ids,
of the vocabulary that the npm package js-tiktoken holds. Needs vLLM 0.32 beside Transformers, and node_modules; not part of make_all.py.
"""

import json
import logging
import os
import re
import tempfile
from pathlib import Path

os.environ["VLLM_LOGGING_LEVEL"] = "CRITICAL"
logging.disable(logging.CRITICAL)
RANKS = Path(__file__).parents[2] / "node_modules/js-tiktoken/dist/ranks/o200k_base.js"
VOCABULARY = os.environ["TIKTOKEN_ENCODINGS_BASE"] = tempfile.mkdtemp()

from provenance import FIXTURES, made_with  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from tool_answers import ANSWERS, REASONED, TOOLS  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: E402
from vllm.entrypoints.openai.parser.harmony_utils import get_encoding  # noqa: E402
from vllm.parser.harmony import HarmonyParser  # noqa: E402
from vllm.parser.parser_manager import ParserManager  # noqa: E402
from vllm.reasoning.gptoss_reasoning_parser import GptOssReasoningParser  # noqa: E402
from vllm.tool_parsers import ToolParserManager  # noqa: E402
from vllm.tool_parsers.gptoss_tool_parser import GptOssToolParser  # noqa: E402

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
# Of reasoning; what vLLM's parsers look up besides.
REASONING_SPECIAL = {
    "qwen3": ["<think>", "</think>", "<tool_call>", "</tool_call>"],
    "deepseek_r1": ["<think>", "</think>"],
    "mistral": ["[THINK]", "[/THINK]"],
    "granite": [],
    "gemma4": ["<|channel>", "<channel|>", "<|turn>"],
}


def tokenizer_with(special: list[str]) -> PreTrainedTokenizerFast:
    """Bytes, and the markers as tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: id for id, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(each, special=True, normalized=False) for each in [*special, "<eos>"]])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>")


def no_json(name: str) -> None:
    raise ValueError(name)


def value_of(arguments: str | None) -> object:
    try:
        return json.loads(arguments, parse_constant=no_json) if arguments else {}
    except ValueError:
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


def write_harmony_vocabulary() -> None:
    """As tiktoken has it: a line for each token, with its rank."""
    lines = re.search(r'bpe_ranks":"(.*?)(?<!\\\\)"', RANKS.read_text())[1].split("\\n")
    with open(f"{VOCABULARY}/o200k_base.tiktoken", "w") as file:
        for _, first, *tokens in (line.split(" ") for line in lines if line):
            file.writelines(f"{token} {int(first) + i}\n" for i, token in enumerate(tokens))


class HarmonyTokens:
    """What the parser asks of a tokenizer: the text of a message that never ended."""

    def decode(self, ids: list[int]) -> str:
        return get_encoding().decode(ids)


class Harmony(HarmonyParser):
    reasoning_parser_cls, tool_parser_cls = GptOssReasoningParser, GptOssToolParser


def harmony_whole(text: str, request: ChatCompletionRequest) -> dict:
    ids = get_encoding().encode(text, allowed_special="all")
    reasoning, content, calls = Harmony(HarmonyTokens(), request.tools).parse(text, request, True, ids)
    return {"content": content or "", "calls": [[call.name, value_of(call.arguments)] for call in calls or []], "reasoning": reasoning or ""}


def harmony_streamed(text: str, request: ChatCompletionRequest) -> dict:
    parser, found, names, arguments = Harmony(HarmonyTokens(), request.tools), {"content": "", "reasoning": ""}, {}, {}
    ids = get_encoding().encode(text, allowed_special="all")
    for place, id in enumerate(ids):
        delta = parser.parse_delta("", [id], request, finished=place == len(ids) - 1)
        if delta is None:
            continue
        found["content"] += delta.content or ""
        found["reasoning"] += delta.reasoning or ""
        for call in delta.tool_calls or []:
            names[call.index] = call.function.name or names[call.index]
            arguments[call.index] = arguments.get(call.index, "") + (call.function.arguments or "")
    return {"content": found["content"], "calls": [[names[i], value_of(arguments[i])] for i in sorted(names)], "reasoning": found["reasoning"]}


def read_delta(found: dict, calls: dict, delta) -> None:
    found["content"] += delta.content or ""
    found["reasoning"] += delta.reasoning or ""
    for call in delta.tool_calls or []:
        one = calls.setdefault(call.index, ["", ""])
        if call.function:
            one[0] += call.function.name or ""
            one[1] += call.function.arguments or ""


def reasoned_whole(parser, tokenizer, text: str, request: ChatCompletionRequest) -> dict:
    reasoning, content, calls = parser.parse(text, request, True, tokenizer(text, add_special_tokens=False)["input_ids"])
    return {"content": content or "", "calls": [[call.name, value_of(call.arguments)] for call in calls or []], "reasoning": reasoning or ""}


def reasoned_streamed(parser, tokenizer, prompt: str, text: str, request: ChatCompletionRequest) -> dict:
    found, calls = {"content": "", "reasoning": ""}, {}
    prompt_ids, parts = tokenizer(prompt, add_special_tokens=False)["input_ids"], pieces(tokenizer, text)
    for place, (id, added) in enumerate(parts):
        delta = parser.parse_delta(added, [id], request, prompt_token_ids=prompt_ids, finished=place == len(parts) - 1)
        if delta is not None:
            read_delta(found, calls, delta)
    return {"content": found["content"], "calls": [[calls[i][0], value_of(calls[i][1])] for i in sorted(calls)], "reasoning": found["reasoning"]}


def attempt(parse) -> dict | str:
    try:
        return parse()
    except Exception as error:  # noqa: BLE001 -- whatever a parser raises
        return type(error).__name__


def main() -> None:
    cases = []
    write_harmony_vocabulary()
    for name, texts in ANSWERS.items():
        if name == "openai":
            request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "x"}], tools=TOOLS)
            cases += [[name, text, attempt(lambda text=text: harmony_whole(text, request)), attempt(lambda text=text: harmony_streamed(text, request))] for text in texts]
            continue
        tokenizer, Parser = tokenizer_with(SPECIAL[name]), ToolParserManager.get_tool_parser(name)
        request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "x"}], tools=TOOLS)

        def make_parser():
            return Parser(tokenizer, request.tools)

        for text in texts:
            cases.append([name, text, attempt(lambda: whole(make_parser, text, request)), attempt(lambda: streamed(make_parser, tokenizer, text, request))])
    request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "x"}], tools=TOOLS)
    reasoned = []
    for (reasoning, name), answers in REASONED.items():
        tokenizer = tokenizer_with(list(dict.fromkeys([*SPECIAL[name], *REASONING_SPECIAL[reasoning]])))
        Both = ParserManager.get_parser(name, reasoning, True)
        for prompt, text in answers:
            read = attempt(lambda: reasoned_whole(Both(tokenizer, request.tools), tokenizer, text, request))
            read_pieces = attempt(lambda: reasoned_streamed(Both(tokenizer, request.tools), tokenizer, prompt, text, request))
            reasoned.append([reasoning, name, prompt, text, read, read_pieces])
    content = {"madeWith": made_with("vllm", "transformers"), "tools": TOOLS}
    lines, reasoned_lines = (",\n".join(json.dumps(case) for case in each) for each in (cases, reasoned))
    head = json.dumps({key: content[key] for key in ("madeWith", "tools")})[:-1]
    (FIXTURES / "tool-calls.json").write_text(f'{head},\n"cases": [\n{lines}\n],\n"reasoned": [\n{reasoned_lines}\n]}}\n')
    print(len(cases), "answers", len(ANSWERS), "syntaxes", len(reasoned), "with reasoning")


if __name__ == "__main__":
    main()
