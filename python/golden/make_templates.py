"""Writes test/support/golden/fixtures/templates: what Jinja2 makes of templates, as Transformers configures it.

families.json: templates with the structure of model families (template_families.py), each with the conversations.
features.json: small templates of each feature (template_features.py). A template that Jinja2 refuses, or that raises, has no text.
"""

import copy
import json
import os
from datetime import datetime

from conversations import CONVERSATIONS
from provenance import FIXTURES, made_with
from template_families import FAMILIES
from template_features import FEATURES, VARIABLES
import transformers.utils.chat_template_utils as chat_template_utils

NOW = datetime(2026, 3, 5, 14, 7)


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
    cases = [[area, template, render(template, copy.deepcopy(VARIABLES))] for area, templates in FEATURES.items() for template in templates]
    # Addresses in memory differ from run to run: such a text is compared by nobody.
    cases = [[area, template, None if text and " at 0x" in text else text] for area, template, text in cases]
    with open(os.path.join(folder, "features.json"), "w") as file:
        lines = ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases)
        file.write(f'{{"made_with": {json.dumps(made_with())}, "now": "{NOW.isoformat()}",\n"variables": {json.dumps(VARIABLES)},\n"cases": [\n{lines}\n]}}\n')
    print(len(cases), "templates,", sum(text is None for *_, text in cases), "refused")
    families(folder)


def families(folder: str) -> None:
    variables = [{"bos_token": "<s>", "eos_token": "</s>", **copy.deepcopy(conversation), "add_generation_prompt": prompt} for conversation in CONVERSATIONS.values() for prompt in (False, True)]
    cases = [[name, template, [render(template, copy.deepcopy(given)) for given in variables]] for name, template in FAMILIES.items()]
    with open(os.path.join(folder, "families.json"), "w") as file:
        lines = ",\n".join(json.dumps(case) for case in cases)
        file.write(f'{{"made_with": {json.dumps(made_with())}, "now": "{NOW.isoformat()}",\n"variables": {json.dumps(variables)},\n"cases": [\n{lines}\n]}}\n')
    texts = [text for *_, made in cases for text in made]
    print(len(texts), "renderings,", sum(text is None for text in texts), "refused")


if __name__ == "__main__":
    main()
