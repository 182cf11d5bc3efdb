"""Writes test/support/golden/fixtures/templates/sent-values.json: JSON as clients send it, and what Transformers' `tojson` writes of it after
Python has read it. Numbers, the order of keys and texts must reach the prompt of every protocol so."""

import json

from provenance import FIXTURES, made_with
from transformers.utils import chat_template_utils

NUMBERS = [
    "1.0", "0.0", "-0.0", "-0", "0", "1e0", "1E5", "1e5", "1.5e1", "1.50E+1", "100000.0", "1e-7", "0.00001", "0.0001", "123456.789", "0.1", "-2.50", "1e15", "1e16", "1e17",
    "1e20", "1e21", "1e22", "1e23", "-1e20", "1.25e22", "1e400", "-1e400", "1e-400", "-1e-400", "9007199254740993", "-9007199254740993", "9007199254740993.0", "9007199254740992.0",
    "12345678901234567890", "1234567890123456", "123456789012345678901234567890.0", "0.99999999999999999999", "1.0000000000000000001", "4.000000000000001", "NaN", "Infinity", "-Infinity",
]  # fmt: skip
TEXTS = ['"1.0"', '"a 1.0, 1e5 [2.0"', r'"\"1\": 1.0"', r'"\\"', '"é\u2028\u00a0🙂\x7f"', r'"\u00e9\ud83d\ude42\u2028\n\t\u0001"', "\"<b>&'x'\"", '""', '"NaN"', '"12345678901234567890"']
OBJECTS = [
    '{"type": "object", "properties": {"n": {"type": "number", "minimum": 1.0, "maximum": 1e5, "default": 2}}, "required": ["n"]}',
    '{"type": "object", "minimum": 0.0, "multipleOf": 1e-7, "exclusiveMaximum": 5}',
    '{"2": "b", "1": "a"}',
    '{"z": 1, "10": 2, "9": 3, "a": 4, "0": 5.0}',
    '{"01": 1, "1": 2, "-1": 3, "1.0": 4, "4294967294": 5, "4294967295": 6, "4294967296": 7, "9007199254740993": 8, "0": 9}',
    r'{"b": 1, "\u0032": 2, "\u0031": 3, "1\u0030": 4}',
    '{"a": 1, "b": 2, "a": 3.0}',
    '{"a": 1.0, "b": 2, "a": 3}',
    '{"2": {"x": 1.0}, "1": 0, "2": {"y": 2, "1": 1, "0": 2.0}}',
    r'{"2": 1, "1": 2, "\u0032": 3.0, "x": 1, "\u0078": 2}',
    '{"__proto__": {"2": 1.0, "1": 2}, "constructor": 3.0, "toString": "x", "1": 4}',
    '{"__proto__": 1.0}',
    '{"list": [1.0, 2, [3.0, {"7": [-0.0], "6": []}], {}, [], null, true, "1.0"], "enum": [1, 1.0, "1", 1e5]}',
    '  {\n\t"b" : 1.0 ,\r\n "1" :[ 2.0,3 ] }  ',
    '{"é": 1.0, "東京": {"3": "🙂", "2": "\u2028"}, "": 0.0}',
    '{"a": {"b": {"c": {"d": {"e": [{"f": {"5": 5.0, "4": 4}}]}}}}}',
    "{}",
]
STRINGS = ['{"title": "Sky", "2": "b", "1": "a"}', '{"10": "x", "9": "1.0"}']


def written(text: str) -> str:
    template = chat_template_utils._compile_jinja_template("{{ value | tojson }}")
    return template.render(value=json.loads(text))


def main() -> None:
    texts = [*NUMBERS, *TEXTS, f"[{', '.join(NUMBERS)}]", *OBJECTS, *STRINGS, *(f'{{"a": [{each}], "b": {each}}}' for each in (*NUMBERS, *TEXTS))]
    content = {"made_with": made_with("transformers", "jinja2"), "cases": [[text, written(text)] for text in texts]}
    (FIXTURES / "templates" / "sent-values.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
