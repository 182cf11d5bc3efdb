"""Writes test/support/golden/fixtures/templates/conversions.json: what vLLM's server makes of odd requests of the Messages and Responses APIs
(odd_protocols.py), as digests of the text for some structures of model families in families.json, which must exist.

The steps are vLLM's own: requests become messages of chat, which are rendered as in make_conversations.py, in the same forms. Two things are
done here as Anthropic's servers and OpenAI's do them: an answer of the Messages API continues a last message of the assistant's, and lists that
vLLM would read once are lists. Needs vLLM 0.32 beside Transformers; not part of make_all.py. With an API, the name of a family and the number
of a request, it prints the texts.
"""

import copy
import json
import os
import sys

from make_conversations import MODEL, TOKENIZER, ordered  # first: it silences vLLM
from make_templates import NOW, FixedTime, digest
from odd_protocols import Messages, Responses
from provenance import FIXTURES, made_with
from transformers.utils import chat_template_utils
from vllm.entrypoints.anthropic.protocol import AnthropicMessagesRequest
from vllm.entrypoints.anthropic.serving import AnthropicServingMessages
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest
from vllm.entrypoints.openai.responses.utils import construct_input_messages, construct_tool_dicts
from vllm.renderers import hf
from vllm.renderers.chat_utils import parse_chat_messages

REQUESTS, SEED = 40, 1
FAMILIES = ["qwen-3", "llama-3.1", "glm-4.5", "granite-4", "command-a", "minimax-m2"]


def of_messages(request: dict, template: str) -> tuple:
    """Messages, tools, and the parameters of the template."""
    wire = AnthropicMessagesRequest.model_validate(request)
    merges = {"merge_inline_system": AnthropicServingMessages._detect_merge_inline_system(template)}
    chat = AnthropicServingMessages.to_chat_completion_request(wire, **merges)
    messages: list[dict] = []
    AnthropicServingMessages._convert_system_message(wire, messages, **merges)
    AnthropicServingMessages._convert_messages(wire.messages, messages, **merges)
    if messages[-1]["role"] == "assistant" and not messages[-1].get("tool_calls"):
        chat.add_generation_prompt, chat.continue_final_message = False, True
    return messages, [each.model_dump() for each in chat.tools or []], chat.build_chat_params(None, "auto")


def of_responses(request: dict, _: str) -> tuple:
    wire = ResponsesRequest.model_validate(request)
    for item in wire.input if isinstance(wire.input, list) else []:
        if isinstance(item, dict):
            item.update({key: list(value) for key, value in item.items() if type(value).__name__ == "ValidatorIterator"})
    messages = construct_input_messages(request_instructions=wire.instructions, request_input=wire.input)
    return messages, construct_tool_dicts(wire.tools, wire.tool_choice), wire.build_chat_params(None, "auto")


def rendered(template: str, convert, request: dict, texts_stay: bool, arguments_stay: bool) -> str | None:
    """None: it is refused."""
    try:
        messages, tools, parameters = convert(copy.deepcopy(request), template)
        sent = copy.deepcopy(messages)
        conversation, _, _ = parse_chat_messages(messages, MODEL, hf._detect_content_format(template, default="string"))
        for message, own in zip(conversation, sent, strict=True):
            if texts_stay and not isinstance(own.get("content"), list):
                message["content"] = own.get("content") or ""
            if arguments_stay:
                for call, given in zip(message.get("tool_calls") or [], own.get("tool_calls") or [], strict=True):
                    call["function"]["arguments"] = dict(given["function"])["arguments"] or "{}"
        known = [{**each, "function": {key: value for key, value in each["function"].items() if value is not None}} for each in tools or []]
        variables = parameters.with_defaults({"tools": ordered(known), "tokenize": False}).chat_template_kwargs
        return hf.safe_apply_chat_template(MODEL, TOKENIZER, conversation, chat_template=template, **variables)
    except Exception:  # noqa: BLE001 -- whatever a template raises
        return None


def texts_of(template: str, convert, request: dict) -> list[str | None]:
    """Equal ones once."""
    forms = [(False, False), (True, False), *([(True, True)] if "arguments" in template else [])]
    return list(dict.fromkeys(rendered(template, convert, request, *form) for form in forms))


APIS = {"messages": (Messages, of_messages), "responses": (Responses, of_responses)}


def main() -> None:
    chat_template_utils.datetime = FixedTime
    folder = os.path.join(FIXTURES, "templates")
    with open(os.path.join(folder, "families.json")) as file:
        families = {name: template for name, template, _ in json.load(file)["cases"]}
    writers = {api: writer(seed=SEED) for api, (writer, _) in APIS.items()}
    asked = {api: [writer.request() for _ in range(REQUESTS)] for api, writer in writers.items()}
    if len(sys.argv) > 1:
        api, family, number = sys.argv[1:]
        request = asked[api][int(number)]
        print(json.dumps(request, ensure_ascii=False), *texts_of(families[family], APIS[api][1], request), sep="\n=====\n")
        return
    cases = [
        [api, name, " ".join("|".join(map(digest, texts_of(families[name], convert, request))) for request in asked[api])]
        for api, (_, convert) in APIS.items()
        for name in FAMILIES
    ]
    with open(os.path.join(folder, "conversions.json"), "w") as file:
        made, lines = made_with("vllm", "transformers", "jinja2"), ",\n".join(map(json.dumps, cases))
        file.write(f'{{"made_with": {json.dumps(made)}, "now": "{NOW.isoformat()}",\n"requests": {json.dumps(asked)},\n"cases": [\n{lines}\n]}}\n')
    digests = " ".join(case[2] for case in cases).split()
    print(len(cases), "cases,", len(digests), "texts,", digests.count("refused"), "refused")


if __name__ == "__main__":
    main()
