"""Writes test/support/golden/fixtures/templates/conversations.json: what vLLM's server makes of odd conversations (odd_conversations.py), as
digests of the text for each structure of a model family in families.json, which must exist.

The steps are vLLM's own: messages are converted (as its class LLM does, which takes parts and keys as they are sent), variables come from the
fields of the request, and Transformers renders them. A text has up to
three forms, of which an answer may be any: vLLM gives parts to every template that can read them; others give it a text where one was sent;
and a template that writes arguments between texts takes them as JSON text only. Fields of messages that vLLM does not know are none of the
requests', and tools have their own fields as they were sent, in vLLM's order (vLLM adds null for what is absent).
Needs vLLM 0.32 beside Transformers; not part of make_all.py. With the name of a family and the number of a request, it prints the texts.
"""

import copy
import json
import logging
import os
import sys
import types

os.environ["VLLM_LOGGING_LEVEL"] = "CRITICAL"
logging.disable(logging.CRITICAL)

from make_templates import NOW, FixedTime, digest  # noqa: E402
from odd_conversations import requests  # noqa: E402
from provenance import FIXTURES, made_with  # noqa: E402
from tokenizers import Tokenizer, models  # noqa: E402
from transformers import PreTrainedTokenizerFast  # noqa: E402
from transformers.utils import chat_template_utils  # noqa: E402
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: E402
from vllm.renderers import hf  # noqa: E402
from vllm.renderers.chat_utils import parse_chat_messages  # noqa: E402

REQUESTS = 50
OF_TOOLS = ("name", "description", "parameters", "strict")
MODEL = types.SimpleNamespace(multimodal_config=None, enable_prompt_embeds=False, tokenizer="none", model="none")
WORDS = Tokenizer(models.WordLevel({"<s>": 0, "</s>": 1}, unk_token="<s>"))
TOKENIZER = PreTrainedTokenizerFast(tokenizer_object=WORDS, bos_token="<s>", eos_token="</s>")


def ordered(tools: list[dict] | None) -> list[dict] | None:
    functions = [each["function"] for each in tools or []]
    kept = [{key: each[key] for key in OF_TOOLS if key in each and (key, each[key]) != ("strict", None)} for each in functions]
    return [{"type": "function", "function": each} for each in kept] or None


def rendered(template: str, request: dict, texts_stay: bool, arguments_stay: bool) -> str | None:
    """None: it is refused."""
    try:
        wire = ChatCompletionRequest.model_validate(copy.deepcopy(request))
        form = hf._detect_content_format(template, default="string")
        messages = ChatCompletionRequest._normalize_messages_before(copy.deepcopy(request))["messages"]
        conversation, _, _ = parse_chat_messages(messages, MODEL, form)
        for message, sent in zip(conversation, request["messages"], strict=True):
            if texts_stay and not isinstance(sent["content"], list):
                message["content"] = sent["content"] or ""
            if arguments_stay and message.get("tool_calls"):
                for call, own in zip(message["tool_calls"], sent["tool_calls"], strict=True):
                    call["function"]["arguments"] = own["function"]["arguments"] or "{}"
        given = {"tools": ordered(request.get("tools")), "tokenize": False}
        variables = wire.build_chat_params(None, "auto").with_defaults(given).chat_template_kwargs
        return hf.safe_apply_chat_template(MODEL, TOKENIZER, conversation, chat_template=template, **variables)
    except Exception:  # noqa: BLE001 -- whatever a template raises
        return None


def texts_of(template: str, request: dict) -> list[str | None]:
    """Equal ones once."""
    forms = [(False, False), (True, False), *([(True, True)] if "arguments" in template else [])]
    return list(dict.fromkeys(rendered(template, request, *form) for form in forms))


def main() -> None:
    chat_template_utils.datetime = FixedTime
    folder = os.path.join(FIXTURES, "templates")
    with open(os.path.join(folder, "families.json")) as file:
        families = {name: template for name, template, _ in json.load(file)["cases"]}
    asked = requests(REQUESTS)
    if len(sys.argv) > 1:
        print(json.dumps(asked[int(sys.argv[2])], ensure_ascii=False))
        print(*texts_of(families[sys.argv[1]], asked[int(sys.argv[2])]), sep="\n=====\n")
        return
    cases = [[name, " ".join("|".join(map(digest, texts_of(template, request))) for request in asked)] for name, template in families.items()]
    with open(os.path.join(folder, "conversations.json"), "w") as file:
        made, lines = made_with("vllm", "transformers", "jinja2"), ",\n".join(map(json.dumps, cases))
        file.write(f'{{"made_with": {json.dumps(made)}, "now": "{NOW.isoformat()}",\n"requests": {json.dumps(asked)},\n"cases": [\n{lines}\n]}}\n')
    print(len(cases), "families,", len(asked), "requests")


if __name__ == "__main__":
    main()
