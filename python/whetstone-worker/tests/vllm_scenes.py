"""The requests that the tests send to vLLM with the starter model, as a server would; the recordings answer these."""

import json
from typing import Any

PROMPT = [1, 260, 300, 345, 400, 512, 620, 700, 21, 35]

PLAIN: dict[str, Any] = {
    "temperature": 0.0,
    "topP": 1.0,
    "topK": 0,
    "minP": 0.0,
    "repetitionPenalty": 1.0,
    "frequencyPenalty": 0.0,
    "presencePenalty": 0.0,
    "logitBias": [],
    "allowedTokenIds": None,
    "badWords": [],
    "seed": None,
    "maxTokens": 6,
    "minTokens": 0,
    "stopTokenIds": [],
    "endTokenIds": [],
    "topLogprobs": 0,
    "promptLogprobs": None,
}

SCHEMA = '{"type":"object","properties":{"name":{"type":"string","maxLength":4}},"required":["name"]}'
TAGS = [{"begin": "<a>", "content": {"type": "json_schema", "json_schema": {"type": "integer"}}, "end": "</a>"}]
SEPARATED = {"type": "tags_with_separator", "tags": TAGS, "separator": "\n", "at_least_one": True, "stop_after_first": True}


def asked(sampling: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Returns the parameters of a `generate` call."""
    return {
        "requestId": "scene",
        "promptTokens": PROMPT,
        "adapter": None,
        "n": 1,
        "constraint": None,
        "priority": 0,
        "payer": "",
        "cacheScope": "",
        **changes,
        "sampling": {**PLAIN, **(sampling or {})},
    }


def constrained(kind: str, source: str, after: int | None = None, **more: Any) -> dict[str, Any]:
    return {"constraint": {"kind": kind, "source": source, **more}, "afterTokenId": after}


STARTER_VOCAB = 1626
STARTER_END = 1619
THINKING_END = 269
"""The model's second token in an unconstrained answer."""

GENERATED: dict[str, dict[str, Any]] = {
    "greedy": asked({"topLogprobs": 3}),
    "two choices": asked({"temperature": 1.0, "seed": 7, "topLogprobs": 2, "maxTokens": 4}, n=2),
    "everything": asked(
        {
            "temperature": 0.8,
            "topP": 0.9,
            "topK": 40,
            "minP": 0.01,
            "repetitionPenalty": 1.1,
            "frequencyPenalty": 0.5,
            "presencePenalty": 0.25,
            "logitBias": [[42, 3.5], [43, -100.0]],
            "allowedTokenIds": list(range(20, 60)),
            "seed": 2**47 - 1,
            "minTokens": 2,
            "stopTokenIds": [50],
            "endTokenIds": [50, STARTER_END],
        },
        priority=-3,
        cacheScope='["default",null]',
    ),
    "prompt": asked({"promptLogprobs": 2, "maxTokens": 2}),
    "long": asked({"maxTokens": 40}, n=2),
    "schema": asked({"maxTokens": 40, "endTokenIds": [STARTER_END]}, constraint=constrained("json_schema", SCHEMA)),
    "thinking": asked(
        {"maxTokens": 20, "endTokenIds": [STARTER_END]}, constraint=constrained("regex", "[0-9]{2}", after=THINKING_END)
    ),
    "refused": asked({"temperature": 0.0}, constraint=constrained("regex", "(unclosed")),
}
"""`generate` calls, and what each recorded response is for."""

PREPARED: dict[str, dict[str, Any]] = {
    "schema": {"kind": "json_schema", "source": SCHEMA, "anyWhitespace": True, "whitespacePattern": None, "strict": True},
    "regex": {"kind": "regex", "source": "[0-9]{2}"},
    "unclosed": {"kind": "regex", "source": "(unclosed"},
    "grammar": {"kind": "ebnf", "source": 'root ::= "yes" | "no"'},
    "tags": {"kind": "structural_tag", "source": json.dumps({"type": "structural_tag", "format": SEPARATED})},
    "looser": {
        "kind": "structural_tag",
        "source": json.dumps(
            {
                "type": "structural_tag",
                "format": {
                    "type": "tag",
                    "begin": "<a>",
                    "content": {"type": "json_schema", "json_schema": {"$ref": "#/nowhere"}, "otherwise": {"type": "object"}},
                    "end": "</a>",
                },
            }
        ),
    },
    "either": {
        "kind": "either",
        "source": json.dumps(
            [
                {"kind": "structural_tag", "source": json.dumps({"type": "structural_tag", "format": SEPARATED})},
                {"kind": "json_schema", "source": SCHEMA, "anyWhitespace": True, "whitespacePattern": None, "strict": True},
            ]
        ),
    },
}
