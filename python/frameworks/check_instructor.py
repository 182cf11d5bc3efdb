"""instructor, unmodified, against a running server: base URL, key and model are arguments.

Prints "ok" at the end. A failed assertion is the exit status and message that test/python/clients/python-frameworks.test.ts reports.
"""

import sys
from typing import Literal

import instructor
import openai
from pydantic import BaseModel, Field

base_url, api_key, model = sys.argv[1:]
client = openai.OpenAI(base_url=base_url, api_key=api_key, max_retries=0)
ask = {"model": model, "messages": [{"role": "user", "content": "Is two more than one?"}], "temperature": 0, "max_tokens": 300}


class Step(BaseModel):
    thought: str = Field(max_length=20)


class Answer(BaseModel):
    """What the user gets."""

    steps: list[Step] = Field(min_length=1, max_length=2)
    answer: Literal["yes", "no"]
    certain: bool


# Each mode sends a different request: strict and plain tools, a schema, JSON with the schema in the prompt.
for mode in (instructor.Mode.TOOLS, instructor.Mode.TOOLS_STRICT, instructor.Mode.JSON_SCHEMA):
    formed = instructor.from_openai(client, mode=mode)
    answer = formed.create(**ask, response_model=Answer, max_retries=1)
    assert answer.answer in ("yes", "no") and 1 <= len(answer.steps) <= 2, (mode, answer)

formed = instructor.from_openai(client, mode=instructor.Mode.JSON_SCHEMA)
*_, last = formed.create_partial(**ask, response_model=Answer)
Answer.model_validate(last.model_dump())
answer, completion = formed.create_with_completion(**ask, response_model=Answer, max_retries=1)
assert completion.usage.completion_tokens > 0
assert Answer.model_validate_json(completion.choices[0].message.content).model_dump() == answer.model_dump()

print("ok")
