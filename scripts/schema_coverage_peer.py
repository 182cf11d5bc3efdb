"""What llguidance says of the schemas whose paths come by line: a JSON list, null where it compiles, the reason where not."""

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
