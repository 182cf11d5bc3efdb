"""Requests in the formats of Anthropic (Messages) and OpenAI (Responses) that are odd but valid: put together at random from pieces, with a seed.
Where vLLM drops words, no piece does: reasoning and answers have one part, and Claude Code's line for whoever bills it is a block of its own."""

from odd_conversations import TEXTS, Writer

SCHEMAS = [{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}, {"properties": {}}, {}]
INPUTS = [{"city": "Paris"}, {}, {"a": 1.0, "n": None, "e": [True, {"f": "é"}]}, {"q": "a\"b\\c\n<>&'"}]
ARGUMENTS = ['{"city": "Paris"}', "{}", '  {"x" : "y"}  ', '{"a": 1.0, "d": null}']
BILLED = {"type": "text", "text": "x-anthropic-billing-header: cch=1;"}


class Named(Writer):
    """With ids of calls that differ."""

    calls = 0

    def some(self, counts: list[int], make) -> list:
        return [make() for _ in range(self.any(counts))]

    def call_id(self) -> str:
        self.calls += 1
        return f"abcdefgh{self.calls % 10}"

    def tool(self) -> dict:
        described = {"description": self.any(["Weather.", ""])} if self.now(0.8) else {}
        return {"name": "get_weather", **described, **({"strict": self.any([True, False, None])} if self.now(0.3) else {})}


class Messages(Named):
    def block(self) -> dict:
        return {"type": "text", "text": self.any(TEXTS), **({"cache_control": {"type": "ephemeral"}} if self.now(0.2) else {})}

    def blocks(self) -> list[dict]:
        return self.some([1, 1, 2, 3], self.block)

    def text_or_blocks(self) -> object:
        return self.any([self.any(TEXTS), self.blocks()])

    def result(self, call: dict) -> dict:
        content = self.any([self.any(TEXTS), self.some([0, 1, 2, 3], lambda: {"type": "text", "text": self.any(TEXTS)}), None])
        return {"type": "tool_result", "tool_use_id": call["id"], **({"content": content} if self.now(0.9) else {}), **({"is_error": self.now(0.5)} if self.now(0.2) else {})}

    def turns(self) -> list[dict]:
        said = [{"role": "user", "content": self.text_or_blocks()}]
        if self.now(0.1):
            said.append({"role": self.any(["system", "user"]), "content": self.text_or_blocks()})
        calls = self.some([0, 0, 1, 2], lambda: {"type": "tool_use", "id": self.call_id(), "name": self.any(["get_weather", "noop"]), "input": self.any(INPUTS)})
        thoughts = self.some([0, 0, 0, 1, 2], lambda: {"type": "thinking", "thinking": self.any(["because", "", "multi\nline\n"]), "signature": "s"})
        blocks = [*thoughts, *([{"type": "redacted_thinking", "data": "x"}] if self.now(0.1) else []), *self.some([0, 1, 1, 2], self.block), *calls]
        if self.now(0.1):
            self.random.shuffle(blocks)
        said.append({"role": "assistant", "content": blocks or self.any(TEXTS)})
        if calls:
            results, extra = [self.result(call) for call in calls], self.blocks() if self.now(0.4) else []
            said.append({"role": "user", "content": self.any([[*results, *extra], [*extra, *results[::-1]]])})
            said += [{"role": "assistant", "content": self.text_or_blocks()}] if self.now(0.5) else []
        return said

    def request(self) -> dict:
        messages = [turn for _ in range(self.any([1, 1, 2, 3])) for turn in self.turns()]
        if self.now(0.75):
            messages.append({"role": "user", "content": "Go on."})
        request = {"model": "m", "max_tokens": 5, "messages": messages}
        if self.now(0.5):
            request["system"] = self.any([self.text_or_blocks(), [BILLED, self.block()]])
        return request | ({"tools": [{**self.tool(), "input_schema": self.any(SCHEMAS)}]} if self.now(0.4) else {})


class Responses(Named):
    def part(self) -> dict:
        return {"type": "input_text", "text": self.any(TEXTS)}

    def said(self) -> dict:
        message = {"role": self.any(["user"] * 5 + ["developer", "system"]), "content": self.any([self.any(TEXTS), self.some([1, 1, 2, 3], self.part)])}
        return message | ({"type": "message"} if self.now(0.6) else {})

    def answer(self) -> dict:
        text = self.any(TEXTS)
        if self.now(0.5):
            return {"role": "assistant", "content": text, **({"type": "message"} if self.now(0.6) else {})}
        own = {"id": "msg_1", "status": "completed"} if self.now(0.5) else {}
        return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}], **own}

    def thought(self, **status: str) -> dict:
        summary = self.any([[], [{"type": "summary_text", "text": "sum"}]])
        content = {"content": self.any([[], None, [{"type": "reasoning_text", "text": self.any(["because", "multi\nline\n"])}]])} if self.now(0.8) else {}
        return {"type": "reasoning", "id": "rs_1", "summary": summary, **content, **status}

    def call(self) -> dict:
        if self.now(0.1):
            return {"type": "custom_tool_call", "call_id": self.call_id(), "name": "noop", "input": self.any(TEXTS)}
        return {"type": "function_call", "call_id": self.call_id(), "name": self.any(["get_weather", "noop"]), "arguments": self.any(ARGUMENTS)}

    def result(self, call: dict) -> dict:
        return {"type": f"{call['type']}_output", "call_id": call["call_id"], "output": self.any([self.any(TEXTS), self.some([1, 2], self.part)])}

    def turns(self) -> list[dict]:
        calls = self.some([0, 0, 1, 2], self.call)
        own = [*([self.thought()] if self.now(0.4) else []), *([self.answer()] if self.now(0.6) else []), *calls]
        if self.now(0.2):
            self.random.shuffle(own)
        results = [self.result(call) for call in calls]
        return [self.said(), *own, *results, *([self.answer()] if calls and self.now(0.5) else [])]

    def request(self) -> dict:
        items = [item for _ in range(self.any([1, 1, 2, 3])) for item in self.turns()]
        status = self.any(["incomplete", "in_progress"])
        if self.now(0.2):
            items.append({**self.thought(status=status)} if self.now(0.4) else {"type": "message", "id": "m", "role": "assistant", "status": status, "content": [{"type": "output_text", "text": "A ", "annotations": []}]})
        request = {"model": "m", "input": items if self.now(0.95) else self.any(TEXTS)}
        request |= {"instructions": self.any(["Be brief.", "", " "])} if self.now(0.4) else {}
        request |= {"reasoning": {"effort": self.any(["low", "none", "high"])}} if self.now(0.15) else {}
        return request | ({"tools": [{"type": "function", "strict": None, **self.tool(), "parameters": self.any(SCHEMAS)}]} if self.now(0.4) else {})
