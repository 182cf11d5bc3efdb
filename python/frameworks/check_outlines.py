"""outlines, unmodified, with its client for vLLM's servers: base URL, key and model are arguments.

Prints "ok" at the end. A failed assertion is the exit status and message that test/python/clients/python-frameworks.test.ts reports.
"""

import re
import sys
from typing import Literal

import openai
import outlines
from outlines.types import CFG, Regex
from pydantic import BaseModel, Field

base_url, api_key, model_name = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
model = outlines.from_vllm(client, model_name)
greedy = {"temperature": 0, "max_tokens": 200}


class Character(BaseModel):
    name: str = Field(max_length=12)
    age: int = Field(ge=0, le=120)


assert "5" in model("What is 2 + 3?", **greedy)
assert "".join(model.stream("What is 2 + 3?", **greedy)) == model("What is 2 + 3?", **greedy)
assert model("Is two more than one?", Literal["yes", "no"], **greedy) in ("yes", "no")
date = model("When?", Regex(r"[0-9]{4}-[01][0-9]"), **greedy)
assert re.fullmatch(r"[0-9]{4}-[01][0-9]", date), date
Character.model_validate_json(model("Who?", Character, **greedy))
sum_of_digits = 'start: digit ("+" digit)~1..3\ndigit: "1" | "2" | "3"\n'
assert re.fullmatch(r"[123](\+[123]){1,3}", model("What?", CFG(sum_of_digits), **greedy))
assert isinstance(int(model("How many?", int, **greedy)), int)

# The same in OpenAI's format.
plain = outlines.from_openai(client, model_name)
Character.model_validate_json(plain("Who?", Character, **greedy))

print("ok")
