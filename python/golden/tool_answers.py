"""Answers with tool calls for make_tool_calls.py, in each syntax that the server reads: complete, beside text, cut off, botched, nested."""

STRING, INTEGER = {"type": "string"}, {"type": "integer"}
WEATHER = {
    "city": STRING,
    "days": {"type": "array", "items": INTEGER},
    "count": INTEGER,
    "ok": {"type": "boolean"},
    "ratio": {"type": "number"},
    "note": {"anyOf": [STRING, {"type": "null"}]},
    "place": {"type": "object", "properties": {"lat": {"type": "number"}, "names": {"type": "array", "items": STRING}}},
}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": "", "parameters": {"type": "object", "properties": WEATHER}}}
    for name in ["weather", "f"]
] + [{"type": "function", "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}}}]  # fmt: skip

# Arguments as JSON.
PLAIN = '{"city": "Bonn", "days": [1, 2]}'
NESTED = '{"place": {"lat": 50.7, "names": ["a", "b, {c}"]}, "ok": true, "note": null}'
UNICODE = '{"city": "Größe 東京 🙂 \\u00e9 \\"x\\" \\n \\\\ /"}'
NO_JSON = ['{"city": "Bonn"', "{'city': 'Bonn'}", '{"city": Bonn}', '{"city": "Bonn",}', '{"ok": True}', "5", '"x"', "[1]", "null", '""']


def called(name: str, arguments: str, key: str = "arguments") -> str:
    return f'{{"name": "{name}", "{key}": {arguments}}}'


def in_json(opens: str, closes: str, key: str = "arguments", between: str = "", listed: tuple[str, str] = ("", "")) -> list[str]:
    """The same answers for each syntax whose calls are JSON."""
    begin, end = opens + listed[0], listed[1] + closes
    calls = [called(name, arguments, key) for name, arguments in [("weather", PLAIN), ("f", NESTED), ("f", UNICODE), ("now", "{}")]]
    one = begin + calls[0] + end
    together = begin + ", ".join(calls[:2]) + end if listed[0] else begin + calls[0] + end + between + begin + calls[1] + end
    return [
        "Hello there.\n",
        *(begin + each + end for each in calls),
        together,
        "Let me look.\n" + one,
        one + "\nDone.",
        "  \n" + one + "\n",
        begin + called("f", '{"city": "' + (closes or "}") + ' {\\"a\\": [1]} "}', key) + end,
        begin + '{"' + key + '": {"count": 1}, "name": "f"}' + end,
        begin + '{"name":"f","' + key + '":{"count":1,"days":[ 1 , 2 ]}}' + end,
        begin + '{\n  "name": "f",\n  "' + key + '": {\n    "count": 1\n  }\n}' + end,
        begin + called("f", '{"count": 12345678901234567890, "ratio": 1e-7, "city": ""}', key) + end,
        begin + called("unknown", '{"x": 1}', key) + end,
        begin + '{"name": "now"}' + end,
        begin + '{"city": "Bonn"}' + end,
        begin + "not JSON" + end,
        *(begin + called("f", arguments, key) + end for arguments in NO_JSON),
        opens + (called("f", PLAIN, key) if opens else ""),
        begin + '{"name": "f", "' + key + '": {"city": "Bo',
        begin + '{"name": "f", "' + key + '": {',
        begin + '{"nam',
        opens[:-2] if opens else "{",
        one + between + begin + '{"name": "f", "' + key + '": {"count": 1',
    ]


def in_python(opens: str = "", closes: str = "") -> list[str]:
    calls = [
        'weather(city="Bonn", days=[1, 2])',
        "f(place={'lat': 50.7, 'names': ['a', 'b, {c}']}, ok=True, note=None)",
        'f(city="Größe 東京 🙂 \\u00e9 \\"x\\" \\n \\\\ /")',
        "now()",
    ]
    values = ["-1", "+1", "1.5e3", "0x1F", "1_000", "'it\\'s'", '"""a"""', "'a' 'b'", "()", "(1,)", "{}", "{1: 2}", "true", "null", "x", "g(1)", "1 + 1", "007", "'a", "{1, 2}", "b'x'", "r'\\n'", "f'x'"]
    return [
        "Hello [there](x).\n",
        *(f"{opens}[{each}]{closes}" for each in calls),
        f"{opens}[{', '.join(calls[:2])}]{closes}",
        f"{opens}[{','.join(calls[1:])}]{closes}",
        f"{opens}[{calls[0]}]{closes}\nDone.",
        f"Let me look. {opens}[{calls[0]}]{closes}",
        f"\n {opens}[{calls[0]}]{closes} \n",
        f"{opens}[\n  {calls[0]},\n  {calls[3]},\n]{closes}",
        *(f"{opens}[f(count={value})]{closes}" for value in values),
        f'{opens}[f(city=")], g(b=1)")]{closes}',
        f"{opens}[unknown(x=1)]{closes}",
        f"{opens}[f(1)]{closes}",
        f"{opens}[f(count=1, count=2)]{closes}",
        f"{opens}[]{closes}",
        f"{opens}[1, 2]{closes}",
        f"{opens}f(count=1){closes}",
        f"{opens}[f(city='Bo",
        f"{opens}[f(count=1), f(",
        f"{opens}[f(",
        f"{opens}[f",
        f"{opens}[f(count=1)",
    ]


def xml(name: str, **parameters: str) -> str:
    return f"<tool_call>\n<function={name}>\n" + "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters.items()) + "</function>\n</tool_call>"


XML = [
    "Hello there.\n", "a < b <function",
    xml("weather", city="Bonn", days="[1, 2]"), xml("f", place='{"lat": 50.7, "names": ["a", "b, {c}"]}', ok="true", note="null"),
    xml("f", city='Größe 東京 🙂 \\u00e9 "x" \\n'), xml("now"), xml("now") + "\n" + xml("f", count="3"), "Let me look.\n" + xml("now"), xml("now") + "\nDone.",
    xml("f", city="3"), xml("f", city="null"), xml("f", city="{}"), xml("f", city=""), xml("f", city="  a\n\n b  \n"), xml("f", city="if (a < b) {\n  <b>x</b>\n}"),
    xml("f", count="3"), xml("f", count="-7"), xml("f", count="many"), xml("f", count="3.5"), xml("f", count="12345678901234567890"), xml("f", ratio="0.5"), xml("f", ratio="2"), xml("f", ratio="1e-7"),
    xml("f", ok="True"), xml("f", ok="false"), xml("f", ok="yes"), xml("f", note="text"), xml("f", note="None"), xml("f", days="[1, 2"), xml("f", days="[1, {'a': None}]"), xml("f", days="1, 2"), xml("f", place="{'lat': 1}"),
    xml("f", other="5"), xml("unknown", x="5"), "<function=f>\n<parameter=count>\n1\n</parameter>\n</function>", "<tool_call><function=f><parameter=count>1</parameter></function></tool_call>",
    "<tool_call>\n<function=f>\n<parameter=city>\nBo", "<tool_call>\n<function=f>\n<parameter=count>\n3\n</parameter>\n", "<tool_call>\n<function=f>\n", "<tool_call>\n<func", "<tool_call>\n{\"name\": \"f\"}\n</tool_call>", "<tool_call>\nf\n</tool_call>", "<tool_ca",
    "<tool_call>\n<function=f>\n<parameter=city>\nx\n<parameter=count>\n2\n</parameter>\n</function>\n</tool_call>", "<tool_call>\n<function=f>\noops\n</function>\n</tool_call>",
]  # fmt: skip


def in_gemma(opens: str, closes: str, quote: str) -> list[str]:
    def call(name: str, text: str) -> str:
        return f"{opens}call:{name}{{{text}}}{closes}"

    def q(text: str) -> str:
        return quote + text + quote

    one = call("weather", f"city:{q('Bonn')},days:[1,2]")
    return [
        "Hello there.\n", one, call("f", f"place:{{lat:50.7,names:[{q('a')},{q('b, {c}')}]}},ok:true,note:null"), call("f", "city:" + q('Größe 東京 🙂 \\u00e9 "x" \\n')),
        call("now", ""), call("now", "") + call("f", "count:3"), "Let me look.\n" + one, one + "\nDone.", call("f", "city:" + q("3")), call("f", "city:" + q("")), call("f", "count:3"), call("f", "count:-7"),
        call("f", "ratio:0.5"), call("f", "ok:false"), call("f", "ok:True"), call("f", "note:" + q("a:b,c:d")), call("f", "city:Bonn am Rhein"), call("f", "count:many"), call("f", "days:[]"), call("f", "place:{}"),
        call("f", "days:[1,[2,3]]"), call("f", "count:12345678901234567890"), call("f", "other:5"), call("unknown", "x:1"), call("f", "count:1,"), call("f", "count"), call("f", "count:"), f"{opens}calling{closes}", f"{opens}f{{count:1}}{closes}",
        f"{opens}call:f{{city:{quote}Bo", f"{opens}call:f{{count:1}}", f"{opens}call:f{{count:1", f"{opens}call:f{{", f"{opens}call:f", opens, one + f"{opens}call:f{{count:1",
    ]  # fmt: skip


MISTRAL = [
    "Hello there.\n", f"[TOOL_CALLS]weather{PLAIN}", f"[TOOL_CALLS]weather[ARGS]{PLAIN}", f"[TOOL_CALLS]f[ARGS]{NESTED}", f"[TOOL_CALLS]f[ARGS]{UNICODE}", "[TOOL_CALLS]now[ARGS]{}",
    f"[TOOL_CALLS]weather[ARGS]{PLAIN}[TOOL_CALLS]f[ARGS]{NESTED}", f"[TOOL_CALLS]weather{PLAIN}[TOOL_CALLS]now{{}}", f"Let me look.[TOOL_CALLS]weather[ARGS]{PLAIN}", f"[TOOL_CALLS]weather[CALL_ID]abcdefghi[ARGS]{PLAIN}",
    '[TOOL_CALLS]f[ARGS]{"city": "[TOOL_CALLS] } ]"}', '[TOOL_CALLS]f[ARGS]{"city": "Bo', "[TOOL_CALLS]f[ARGS]", "[TOOL_CALLS]f", "[TOOL_CALLS]", "[TOOL_CALLS]f[ARGS]{'city': 'Bonn'}", '[TOOL_CALLS]f[ARGS]{"city": Bonn}',
    *in_json("[TOOL_CALLS]", "", listed=("[", "]")),
]  # fmt: skip

ANSWERS: dict[str, list[str]] = {
    "hermes": in_json("<tool_call>\n", "\n</tool_call>", between="\n"),
    "granite4": in_json("<tool_call>\n", "\n</tool_call>", between="\n"),
    "llama3_json": [*in_json("", "", "parameters", "; "), *(f"<|python_tag|>{each}" for each in in_json("", "", "parameters", "; ")[1:8])],
    "pythonic": in_python(),
    "llama4_pythonic": in_python("<|python_start|>", "<|python_end|>"),
    "mistral": MISTRAL,
    "phi4_mini_json": in_json("functools", "", listed=("[", "]")),
    "granite": in_json("<|tool_call|>", "", listed=("[", "]")),
    "qwen3_coder": XML,
    "functiongemma": in_gemma("<start_function_call>", "<end_function_call>", "<escape>"),
    "gemma4": in_gemma("<|tool_call>", "<tool_call|>", '<|"|>'),
}
