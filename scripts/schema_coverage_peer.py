"""Reads paths of schemas, one per line, and prints a JSON list: null if llguidance compiles the schema, otherwise the reason."""

import json
import sys

from llguidance import LLMatcher

verdicts = []
for line in sys.stdin:
    with open(line.strip(), encoding="utf-8") as file:
        schema = file.read()
    try:
        grammar = LLMatcher.grammar_from_json_schema(schema)
        is_error, messages = LLMatcher.validate_grammar_with_warnings(grammar)
        verdicts.append("; ".join(messages)[:200] if is_error else None)
    except ValueError as error:
        verdicts.append(str(error)[:200])
print(json.dumps(verdicts))
