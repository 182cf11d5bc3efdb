"""Writes test/support/golden/fixtures/templates: what Jinja2 makes of templates, as Transformers configures it.

families.json: templates with the structure of model families (template_families.py and chat_templates/families), each with the
conversations, as a server sends them (arguments as text) and as Transformers' users write them (arguments as objects), and with variables
that only some families read. Of their texts only digests are kept: with the name of a family and the number of a request, it prints the text.
features.json: small templates of each feature (template_features.py). A template that Jinja2 refuses, or that raises, has no text.
"""

import copy
import hashlib
import json
import os
import sys
from datetime import datetime

from pathlib import Path

from conversations import ADD, CONVERSATIONS, PARIS, WEATHER, as_template_sees, assistant, call, result, system, user
from provenance import FIXTURES, made_with
from template_families import FAMILIES
from template_features import FEATURES, VARIABLES
import transformers.utils.chat_template_utils as chat_template_utils

NOW = datetime(2026, 3, 5, 14, 7)
FILES = Path(__file__).parent / "chat_templates" / "families"
SEARCH = [user("Weather?"), assistant("", tool_calls=[call("get_weather", PARIS, "abc123XYZ")]), result("rain", "abc123XYZ"), assistant("Rain."), user("Sure?")]
# Variables that some families read beside messages and tools.
OPTIONS = [
    {"messages": [user("Weather?")], "documents": [{"title": "Sky", "text": "It is <clear> & dry."}, {"title": "é", "text": "東京"}], "citation_mode": "fast"},
    {"messages": [system("Be brief. /no_think"), user("Hi /think")], "contexts": [" one ", "two"], "enable_thinking": True, "thinking": True, "thinking_budget": 0},
    {"messages": [system("Be brief."), *SEARCH], "builtin_tools": ["code_interpreter", "get_weather"], "date_string": "5 Mar 2026", "skip_think": False},
    {"messages": SEARCH, "tools": [WEATHER, ADD], "tools_in_user_message": False, "reasoning": False, "mode": "code", "controls": {"length": "short"}},
    {"messages": [user([{"type": "text", "text": "a"}, {"type": "image"}]), assistant([{"type": "thinking", "thinking": "b"}, {"type": "text", "text": "c"}])]},
    {"messages": [user("2+2?"), assistant("<think>two</think>4", prefix=True), user("3+3?"), assistant(None, tool_calls=[call("add", {"a": 3, "b": None})], reasoning_content="three")], "tools": [ADD]},
]


class FixedTime(datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


def render(template: str, variables: dict) -> str | None:
    """None: it is refused, or raises."""
    try:
        return chat_template_utils._compile_jinja_template(template).render(**variables)
    except Exception:  # noqa: BLE001 -- whatever a template raises
        return None


def main() -> None:
    chat_template_utils.datetime = FixedTime
    folder = os.path.join(FIXTURES, "templates")
    os.makedirs(folder, exist_ok=True)
    if len(sys.argv) == 1:
        features(folder)
    families(folder)


def features(folder: str) -> None:
    cases = [[area, template, render(template, copy.deepcopy(VARIABLES))] for area, templates in FEATURES.items() for template in templates]
    # Addresses in memory differ from run to run: such a text is compared by nobody.
    cases = [[area, template, None if text and " at 0x" in text else text] for area, template, text in cases]
    with open(os.path.join(folder, "features.json"), "w") as file:
        lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases)
        file.write(f'{{"made_with": {json.dumps(made_with())}, "now": "{NOW.isoformat()}",\n"variables": {json.dumps(VARIABLES)},\n"cases": [\n{lines}\n]}}\n')
    print(len(cases), "templates,", sum(text is None for *_, text in cases), "refused")


def digest(text: str | None) -> str:
    return "refused" if text is None else hashlib.sha256(text.encode()).hexdigest()[:12]


def families(folder: str) -> None:
    templates = FAMILIES | {path.stem: path.read_text() for path in sorted(FILES.iterdir())}
    objects = [{**each, "messages": [as_template_sees(message) for message in each["messages"]]} for each in (*CONVERSATIONS.values(), *OPTIONS)]
    requests = [*CONVERSATIONS.values(), *OPTIONS, *(each for each in objects if "tool_calls" in str(each))]
    variables = [{"bos_token": "<s>", "eos_token": "</s>", **copy.deepcopy(request), "add_generation_prompt": prompt} for request in requests for prompt in (False, True)]
    if len(sys.argv) > 1:
        print(render(templates[sys.argv[1]], copy.deepcopy(variables[int(sys.argv[2])])))
        return
    cases = [[name, template, " ".join(digest(render(template, copy.deepcopy(given))) for given in variables)] for name, template in templates.items()]
    with open(os.path.join(folder, "families.json"), "w") as file:
        lines = ",\n".join(json.dumps(case) for case in cases)
        file.write(f'{{"made_with": {json.dumps(made_with())}, "now": "{NOW.isoformat()}",\n"variables": {json.dumps(variables)},\n"cases": [\n{lines}\n]}}\n')
    texts = [text for *_, made in cases for text in made.split()]
    print(len(cases), "families,", len(texts), "renderings,", sum(text == "refused" for text in texts), "refused")


if __name__ == "__main__":
    main()
