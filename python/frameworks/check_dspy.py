"""DSPy, unmodified, against a running server: base URL, key and model are arguments.

Prints "ok" at the end. A failed assertion is the exit status and message that test/python/clients/python-frameworks.test.ts reports.
"""

import sys
from typing import Literal

import dspy
from dspy.lm15 import AccessPolicy, EndpointSupport, ModelSupport, OpenAIChatCompat, ProviderDefinition, register_provider

base_url, api_key, model = sys.argv[1:]
settings = {"api_key": api_key, "temperature": 0, "max_tokens": 300, "cache": False, "num_retries": 0}

# DSPy assumes that a model without an entry in its list does not support schemas; a custom provider can declare support.
access = AccessPolicy(provider="own", base_url=base_url, supports=EndpointSupport(complete=True, stream=True), env_keys=("OWN_API_KEY",))
can = ModelSupport(function_calling=True, response_schema=True)
register_provider(ProviderDefinition.chat(access, compat=OpenAIChatCompat()), supports=can)
lm = dspy.LM(f"own/{model}", **settings)


class Compare(dspy.Signature):
    """Answer the question."""

    question: str = dspy.InputField()
    answer: Literal["yes", "no"] = dspy.OutputField()


assert "5" in lm("What is 2 + 3?")[0]
assert "5" in dspy.LM(f"openai/{model}", api_base=base_url, **settings)("What is 2 + 3?")[0]

# The adapter sends the signature's outputs as a schema, so that a model of any size answers in it.
with dspy.context(lm=lm, adapter=dspy.JSONAdapter()):
    compare = dspy.Predict(Compare)
    assert compare(question="Is two more than one?").answer in ("yes", "no")
    examples = [dspy.Example(question=f"Is {n} more than 1?", answer="yes").with_inputs("question") for n in (2, 3)]
    evaluate = dspy.Evaluate(devset=examples, metric=lambda example, made, trace=None: made.answer in ("yes", "no"), num_threads=2)
    assert evaluate(compare).score == 100.0

print("ok")
