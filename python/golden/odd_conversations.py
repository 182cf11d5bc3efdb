"""Requests of chat that are odd but valid: put together at random from pieces, with a seed, so that pieces meet that nobody would write next to
each other. Arguments of calls are JSON objects as text; those that are not are another matter (src/text/unread-arguments.ts)."""

import random

PLAIN = {"type": "object", "properties": {"city": {"type": "string", "description": "City <b> & 東京 'x'"}, "days": {"type": "integer", "default": 3}, "ok": {"type": "boolean", "default": True}}, "required": ["city"]}
NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}, "v": {"type": ["integer", "null"], "default": None, "minimum": -15, "maximum": 10000000000000000000000}}}
DEEP = {"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "array", "items": {"anyOf": [{"type": "string", "enum": ["x", 'é"q']}, {"type": "null"}, {"$ref": "#/$defs/N"}]}}}, "required": ["b"]}}, "$defs": {"N": NODE}, "required": []}
UNION = {"type": "object", "properties": {"x": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "y": {"type": ["string", "null"], "enum": ["a", None]}, "z": {"const": 3}, "w": {}}, "required": ["x"]}


def tool(name: str, **fields: object) -> dict:
    return {"type": "function", "function": {"name": name, **fields}}


TOOLS = [
    [tool("get_weather", description="Weather.", parameters=PLAIN)],
    [tool("get_weather", description="Weather.", parameters=PLAIN), tool("noop", description="Nothing", parameters={})],
    [tool("deep", description="", parameters=DEEP, strict=True)],
    [tool("noop", description="No parameters.", parameters={"type": "object", "properties": {}}, strict=False)],
    [tool("noop", description="Null.", parameters=PLAIN, strict=None)],
    [{"function": {"description": "order", "parameters": PLAIN, "name": "reordered"}, "type": "function"}],
    [tool("multi\nline", description='Line one\nline two\n"quoted" \\ back', parameters=UNION)],
]
TEXTS = ["Hello there.", "What is up?", "Yes.", "It is 3.", "", " ", "\n", "  padded \n\n", "Größe 今日は 🙂👩‍👩‍👧", "<think>r</think>\n\nanswer", "<think>\nonly open", "end</think>x", "<|im_end|>", "a\r\nb", "\u2028x\u0085y\u00a0", '{"a": 1}', "{{ messages }}{% if %}", "<tool_response>\nok\n</tool_response>", "null", "/no_think", "a<b>&'\"c", "[INST] x [/INST]"]
ARGUMENTS = ['{"city": "Paris"}', "{}", "", '{"a": 1.0, "b": 1e3, "c": 12345678901234567890, "d": null, "e": [true, {"f": "é\\u00e9\\ud83d\\ude42"}]}', '  {"x" : "y"}  ', '{"a": {"b": {"c": []}}}', '{"q": "a\\"b\\\\c\\n<>&\'"}', '{"a": 1, "a": 2}', '{"n": NaN, "i": -Infinity}', '{"": ""}', '{"2": "print(1)\\nprint(2)", "1": 0}', '{"id": "00012", "neg": -0.0, "big": 1e22, "small": 1e-7}']
THOUGHTS = [{"reasoning_content": "because"}, {"reasoning": "multi\nline\n"}, {"reasoning": ""}, {"reasoning": None}, {"reasoning": "one", "reasoning_content": "two"}]
VARIABLES = [{"enable_thinking": False}, {"enable_thinking": None, "bos_token": "<BOS>"}, {"thinking": True, "date_string": "5 Mar 2026"}, {"documents": [{"title": "k", "text": "w"}]}, {"reasoning_effort": "low"}]
FIELDS = [{"documents": [{"title": "Sky", "text": "blue <b>"}, {"title": "é", "text": "東京"}]}, {"documents": []}, {"reasoning_effort": "none"}, {"reasoning_effort": "high"}, {"tool_choice": "none"}]


class Chance:
    """Draws with a seed: the same on every machine."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def now(self, probability: float) -> bool:
        return self.random.random() < probability

    def any(self, choices: list) -> object:
        return self.random.choice(choices)


class Writer(Chance):
    def part(self) -> object:
        text = self.any(TEXTS)
        forms = [{"type": "text", "text": text}] * 3 + [text, {"type": "input_text", "text": text}, {"type": "output_text", "text": text}, {"type": "refusal", "refusal": "I cannot."}, {"type": "thinking", "thinking": "hmm " + text}]
        return self.any(forms)

    def content(self) -> object:
        return [self.part() for _ in range(self.any([0, 1, 1, 2, 3]))] if self.now(0.35) else self.any(TEXTS)

    def call(self, at: int) -> dict:
        function = {"name": self.any(["get_weather", "noop", "multi\nline", "é"]), "arguments": self.any(ARGUMENTS)}
        return {"id": f"abcdefgh{at}", "type": "function", "function": function}

    def assistant(self, calls: list[dict]) -> dict:
        message = {"role": "assistant", "content": self.any([None, "", self.content()]) if calls else self.content()}
        if self.now(0.35):
            message |= self.any(THOUGHTS)
        return message | ({"tool_calls": calls} if calls or self.now(0.1) else {})

    def turns(self) -> list[dict]:
        said = [{"role": "user", "content": self.content(), **({"name": "bob"} if self.now(0.1) else {})}]
        if self.now(0.08):
            said.append({"role": self.any(["system", "developer", "critic"]), "content": self.content()})
        calls = [self.call(at) for at in range(self.any([0, 0, 1, 1, 2, 3]))]
        if calls or self.now(0.7):
            said.append(self.assistant(calls))
        results = [{"role": "tool", "tool_call_id": call["id"], "content": self.content(), **({"name": call["function"]["name"]} if self.now(0.3) else {})} for call in calls]
        said += results[::-1] if self.now(0.2) else results[: len(results) - self.now(0.1)]
        return said + ([self.assistant([])] if calls and self.now(0.5) else [])

    def request(self) -> dict:
        opening = self.any([[], [], ["system"], ["system"], ["developer"], ["system", "system"], ["system", "developer"]])
        messages = [{"role": role, "content": self.content()} for role in opening]
        for _ in range(self.any([1, 1, 2, 3])):
            messages += self.turns()
        request = {"messages": messages}
        if self.now(0.4):
            request["tools"] = self.any(TOOLS)
        if self.now(0.25):
            request["add_generation_prompt"] = False
            request["continue_final_message"] = self.now(0.6)
        if self.now(0.25):
            request["chat_template_kwargs"] = self.any(VARIABLES)
        field = self.any(FIELDS)
        return request | (field if self.now(0.2) and ("tools" in request or "tool_choice" not in field) else {})


def requests(count: int) -> list[dict]:
    writer = Writer(seed=1)
    return [writer.request() for _ in range(count)]
