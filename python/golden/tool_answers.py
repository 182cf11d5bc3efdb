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
    xml("f", place='{"names": ["a</parameter>b", "</function>", "<parameter=x>"]}'), xml("f", days='["</parameter>", 1]', count="2"), xml("f", city="a</parameter>b"), xml("f", city="a</tool_call>b"), xml("f", place='{"names": ["a\n</parameter>'),
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


def harmony(header: str, content: str, end: str = "<|call|>") -> str:
    return f"{header}<|message|>{content}{end}"


COMMENTARY, START = "<|channel|>commentary", "<|start|>assistant"
ANALYSIS = harmony("<|channel|>analysis", "They want rain. Call it.", "<|end|>")
TO_F = " to=functions.f <|constrain|>json"
# What gpt-oss writes: answers begin inside the header of an assistant message.
HARMONY = [
    "Hello there.\n", harmony("<|channel|>final", "Hello there.", "<|return|>"), harmony("<|channel|>final", "Größe 東京 🙂\n\n- a < b", "<|return|>"),
    ANALYSIS + START + harmony("<|channel|>final", "4", "<|return|>"), ANALYSIS, harmony("<|channel|>analysis", "Two and", ""), ANALYSIS + ANALYSIS.replace("<|channel|>", START + "<|channel|>"),
    *(ANALYSIS + START + harmony(COMMENTARY + " to=functions.weather <|constrain|>json", each) for each in [PLAIN, NESTED, UNICODE, "{}", "", *NO_JSON]),
    harmony(COMMENTARY + TO_F, PLAIN), harmony(COMMENTARY + TO_F, PLAIN, "<|end|>"), harmony(COMMENTARY + TO_F, PLAIN, ""), harmony(COMMENTARY + " to=functions.f", PLAIN), harmony(COMMENTARY + " to=functions.f<|constrain|>json", PLAIN),
    harmony(COMMENTARY + " to=functions.f json", PLAIN), harmony(COMMENTARY + " to=functions.f code", "x = 1"), harmony(" to=functions.f" + COMMENTARY + " <|constrain|>json", PLAIN), harmony(" to=functions.f" + COMMENTARY, PLAIN),
    ANALYSIS + START + harmony(" to=functions.f" + COMMENTARY + " <|constrain|>json", PLAIN), harmony("<|channel|>analysis to=functions.f <|constrain|>json", PLAIN), harmony("<|channel|>final to=functions.f <|constrain|>json", PLAIN),
    harmony(COMMENTARY, "I will look it up.", "<|end|>") + START + harmony(COMMENTARY + TO_F, PLAIN), ANALYSIS + START + harmony(COMMENTARY, "First this.", "<|end|>") + START + harmony(COMMENTARY + TO_F, PLAIN),
    harmony(COMMENTARY + TO_F, PLAIN) + START + harmony(COMMENTARY + " to=functions.now <|constrain|>json", "{}"), harmony(COMMENTARY + TO_F, PLAIN) + START + harmony("<|channel|>final", "Done.", "<|return|>"),
    harmony(COMMENTARY + TO_F, '{\n  "count": 1,\n  "days": [ 1 , 2 ]\n}'), harmony(COMMENTARY + TO_F, ' {"count": 1} '), harmony(COMMENTARY + TO_F, '{"count": 12345678901234567890, "ratio": 1e-7}'),
    harmony(COMMENTARY + " to=functions.get-weather.v2 <|constrain|>json", PLAIN), harmony(COMMENTARY + " to=functions.größe <|constrain|>json", PLAIN), harmony(COMMENTARY + " to=functions.unknown <|constrain|>json", PLAIN),
    harmony(COMMENTARY + " to=weather <|constrain|>json", PLAIN), harmony(COMMENTARY + " to=weather", PLAIN), harmony(" to=weather" + COMMENTARY + " <|constrain|>json", PLAIN), harmony(COMMENTARY + " to=repo.search json", PLAIN),
    harmony(COMMENTARY + " to=functions. <|constrain|>json", PLAIN), harmony(COMMENTARY + " to=assistant", "Hm."), harmony("<|channel|>analysis to=python code", "print(1)"), harmony(COMMENTARY + " to=browser.search code", '{"query": "x"}'), harmony(COMMENTARY + " to=container.exec json", "{}"),
    harmony(COMMENTARY + TO_F, '{"city": "Bo', ""), harmony(COMMENTARY + TO_F, "", ""), COMMENTARY + TO_F, COMMENTARY + " to=functions.f", COMMENTARY + " to=func", "<|channel|>com", harmony(COMMENTARY + TO_F, '{"count": 1', ""),
    harmony(COMMENTARY + TO_F, PLAIN) + START + harmony(COMMENTARY + TO_F, '{"count": 1', ""), ANALYSIS + START + harmony("<|channel|>final", "It rai", ""), ANALYSIS + START, ANALYSIS + START + "<|channel|>",
    harmony("<|channel|>final", "I would use to=functions.f here.", "<|return|>"), harmony("<|channel|>final", 'Write <Link to="/home"> or x to=y z.', "<|return|>"), harmony("<|channel|>final", "x to=y", "<|return|>"), harmony("<|channel|>final <|constrain|>json", '{"a": 1}', "<|return|>"), harmony("<|channel|>final", '{"name": "f", "arguments": {}}', "<|return|>"), harmony("<|channel|>analysis", "to=functions.f?\nNo.", "<|end|>") + START + harmony("<|channel|>final", "No.", "<|return|>"),
]  # fmt: skip



def odd_in_json(opens: str, closes: str, key: str = "arguments", listed: tuple[str, str] = ("", "")) -> list[str]:
    """What parsers trip over: keys that no call has or that come twice, values of other types, JSON that is almost Python."""
    begin, end = opens + listed[0], listed[1] + closes
    bodies = [
        '{"name": "f", "input": {"city": "Bonn"}}', '{"name": "f", "args": "Bonn"}', '{"id": "x", "type": "function", "name": "now"}',
        f'{{"thought": "so", "name": "f", "{key}": {{"city": "Bonn"}}}}', f'{{"name": "f", "{key}": {{}}, "{key}": {{"city": "Bonn"}}}}', f'{{"name": "now", "name": "f", "{key}": {{"city": "Bonn"}}}}',
        '{"name": "f", "arguments": {"city": "Bonn"}, "parameters": {"city": "Rome"}}', f'{{"name": "", "{key}": {{}}}}', f'{{"name": null, "{key}": {{}}}}', f'{{"name": 5, "{key}": {{}}}}',
        '{"type": "function", "function": {"name": "f", "arguments": {"city": "Bonn"}}}', f'{{"name": "f", "{key}": {{"city": "a", "city": "b"}}}}',
        f'{{"name": "f", "{key}": {{"ratio": NaN}}}}', f'{{"name": "f", "{key}": {{"city": "a\tb"}}}}', f'{{"name": "f", "{key}": {{"city": "\\ud83d"}}}}', f'{{"name": "f", "{key}": {{"city": "\\x41"}}}}',
        f'{{"name": "f", "{key}": "{{\\"city\\": \\"Bonn\\"}}"}}', f'{{"name": "f", "{key}": {{"city": "{{\\"name\\": \\"g\\"}}"}}}}', f'{{"name": "f", "{key}": {{"city": "Bonn"}}}}}}',
        "```json\n" + called("f", PLAIN, key) + "\n```", f"{{'name': 'f', '{key}': {{}}}}", f'{{"name": "f", "{key}": {{"count": 01}}}}', f'{{"name": "f", "{key}": {{"city": "Bonn"}} // call\n}}',
    ]  # fmt: skip
    return [begin + each + end for each in bodies]


ODD_PYTHON = [
    "[f(city='Bonn') ; now()]", "[f(city='Bonn')\nnow()]", "[[f(city='Bonn')]]", "(f(city='Bonn'),)", "[f(city='Bonn'),]", "[f(**{'city': 'Bonn'})]", "[f(city='Bonn', 1)]", "[f(city:'Bonn')]", "[f.g(city='Bonn')]", "[1f(city='Bonn')]", "[f (city = 'Bonn' )]",
    "[f(city='a\nb')]", "[f(city='a # b')]", "[f(city='Bonn', # so\n count=1)]", "[f(city='it's')]", "[f(city=nan)]", "[f(count=-  1)]", "[f(city='a' + 'b')]", "[f(days=[i for i in x])]", "[f(place={'a': {'b': (1, 2)}})]", "[f(city='\\N{BULLET}')]", "[f(ratio=1e400)]", "[f(class='x')]",
]  # fmt: skip

ODD_XML = [
    *(xml("f", **{key: value}) for key, value in [
        ("city", "<![CDATA[a < b]]>"), ("city", "&lt;a&gt; &amp; b"), ("city", "a\r\nb"), ("city", "a </para b"), ("city", "\n\na\n\n"), ("count", ""), ("count", " 3 "), ("count", "3.0"), ("count", "1e3"), ("count", "1,000"), ("count", "007"), ("count", "+5"), ("count", "NaN"),
        ("ratio", "Infinity"), ("ratio", ".5"), ("ratio", "1/2"), ("ok", "1"), ("ok", ""), ("ok", '"true"'), ("days", "(1, 2)"), ("days", "5"), ("days", "null"), ("place", '{"lat": NaN}'), ("place", '{"lat": 1,}'), ("place", ""), ("note", ""), ("note", "NULL"),
    ]),
    "<tool_call>\n<function= f >\n<parameter= city >\nBonn\n</parameter>\n</function>\n</tool_call>", "<tool_call>\n<function>\n<parameter=city>\nBonn\n</parameter>\n</function>\n</tool_call>", '<tool_call>\n<function name="f">\n</function>\n</tool_call>',
    '<tool_call>\n<function=f>\n<parameter name="city">\nBonn\n</parameter>\n</function>\n</tool_call>', "<tool_call>\n<function=f>\n<parameter>\nBonn\n</parameter>\n</function>\n</tool_call>", "<tool_call>\n<function=f>\n<parameter=>\nBonn\n</parameter>\n</function>\n</tool_call>",
    "<tool_call>\n<function=f>\n<parameter=city>\na\n</parameter>\n<parameter=city>\nb\n</parameter>\n</function>\n</tool_call>", "<tool_call>\n<function=f>\n<parameter=city>\na\n</parameter>\n</parameter>\n</function>\n</tool_call>", "<tool_call>\n<function=f>\n<parameter=city>\na\n</parameter>\n</function>\n</function>\n</tool_call>",
    "<tool_call>\n" + xml("f", city="Bonn"), xml("f", city="Bonn") + "\n</tool_call>", "<tool_call>\n<function=f>\n<parameter=city>\na\n</parameter>\n</function>\n<function=now>\n</function>\n</tool_call>", "<function=f>\n<parameter=city>\na\n</parameter>\n</function> and <function=now>\n</function>",
]  # fmt: skip


def odd_in_gemma(opens: str, closes: str, quote: str) -> list[str]:
    def q(text: str) -> str:
        return quote + text + quote

    texts = [
        f"call: f {{city:{q('Bonn')}}}", f"call:f{{ city : {q('Bonn')} , count : 3 }}", f"call:f{{city:{q('a')},city:{q('b')}}}", f"call:f{{{q('city')}:{q('Bonn')}}}", f"call:f{{city:{q(closes)}}}", f"call:f{{city:{q('a}b{c')}}}", f"call:f{{city:{q('a')}b}}", "call:f{city:'Bonn'}", 'call:f{"city":"Bonn"}',
        "call:f{count:007}", "call:f{ratio:.5}", "call:f{ok:1}", f"call:f{{ok:{q('true')}}}", f"call:f{{count:{q('3')}}}", "call:f{note:none}", "call:f{note:nil}", f"call:f{{days:{q('[1, 2]')}}}", "call:f{days:[1,2,]}", "call:f{place:{lat:1,}}", f"call:f{{city:{q('Bonn')}}}}}", f"call:f(city:{q('Bonn')})", f":f{{city:{q('Bonn')}}}", "call:{}", "call:f", "call:f {}", "call:f{,}",
    ]  # fmt: skip
    return [opens + each + closes for each in texts]


ODD_MISTRAL = [
    "[TOOL_CALLS] f [ARGS] {}", "[TOOL_CALLS]f[ARGS]{}\n\n[TOOL_CALLS]now[ARGS]{}", "[TOOL_CALLS]f[ARGS]{} and [TOOL_CALLS]now[ARGS]{}", '[TOOL_CALLS]f[ARGS]"x"', "[TOOL_CALLS]f[ARGS][1]", "[TOOL_CALLS]f[ARGS]null", "[TOOL_CALLS][ARGS]{}", "[ARGS]{}", '[TOOL_CALLS]f[ARGS]{"city": "a"}}', '[TOOL_CALLS]f[ARGS]{"city": "a", "city": "b"}', '[TOOL_CALLS]f[ARGS]{"ratio": NaN}', "[TOOL_CALLS]get weather[ARGS]{}", "[TOOL_CALLS][TOOL_CALLS]f[ARGS]{}",
]  # fmt: skip

ODD_HARMONY = [
    harmony("<|channel|>final", "I write to=functions.f here", "<|end|>") + START + harmony(COMMENTARY + TO_F, PLAIN), harmony("<|channel|>final", "I write to=functions.f here", "<|end|>") + harmony(COMMENTARY + TO_F, PLAIN),
    harmony("<|channel|>final", " to=f is mine", "<|end|>") + START + harmony(COMMENTARY + TO_F, PLAIN), harmony("<|channel|>analysis so", "They want rain.", "<|end|>"), harmony(COMMENTARY + " to=functions.f to=functions.now", "{}"), harmony("<|channel|>comment", "Hm."), harmony("<|channel|>", "Hm."),
    ANALYSIS + harmony(COMMENTARY + TO_F, PLAIN), ANALYSIS + "\n" + START + harmony(COMMENTARY + TO_F, PLAIN), harmony(COMMENTARY + TO_F, PLAIN) + harmony(COMMENTARY + TO_F, PLAIN), harmony(COMMENTARY + TO_F, PLAIN + "}"), harmony(COMMENTARY + TO_F, "NaN"), harmony(COMMENTARY + TO_F, PLAIN, "<|return|>"), harmony("<|channel|>final", "a", "<|end|>") + START + harmony("<|channel|>final", "b", "<|return|>"),
]  # fmt: skip

ANSWERS: dict[str, list[str]] = {
    "hermes": [*in_json("<tool_call>\n", "\n</tool_call>", between="\n"), *odd_in_json("<tool_call>\n", "\n</tool_call>")],
    "granite4": in_json("<tool_call>\n", "\n</tool_call>", between="\n"),
    "llama3_json": [
        *in_json("", "", "parameters", "; "),
        *(f"<|python_tag|>{each}" for each in in_json("", "", "parameters", "; ")[1:8]),
        *odd_in_json("", "", "parameters"),
    ],
    "pythonic": [*in_python(), *ODD_PYTHON],
    "llama4_pythonic": in_python("<|python_start|>", "<|python_end|>"),
    "mistral": [*MISTRAL, *ODD_MISTRAL],
    "phi4_mini_json": in_json("functools", "", listed=("[", "]")),
    "granite": [*in_json("<|tool_call|>", "", listed=("[", "]")), *odd_in_json("<|tool_call|>", "", listed=("[", "]"))],
    "qwen3_coder": [*XML, *ODD_XML],
    "functiongemma": in_gemma("<start_function_call>", "<end_function_call>", "<escape>"),
    "gemma4": [*in_gemma("<|tool_call>", "<tool_call|>", '<|"|>'), *odd_in_gemma("<|tool_call>", "<tool_call|>", '<|"|>')],
    "openai": [*HARMONY, *ODD_HARMONY],
}


def with_reasoning(begin: str, end: str, call: str) -> list[tuple[str, str]]:
    """The end of a prompt, and an answer: reasoning that is closed, open, empty, closed twice or begun again, and calls in it and after it."""
    said = f"{begin}\nHm.\n{end}\n\n"
    unsaid = [
        "Yes.", said + "Yes.", f"{begin}{end}Yes.", f"{begin}\n\n{end}\n\nYes.", f"{begin}\nHm.", said, f"{begin}\nHm.\n{end}\n{end}\n\nYes.", f"{said}Yes.{end}", f"{begin}\n{begin}\nHm.\n{end}Yes.", f"{begin}\na {begin} b\n{end}Yes.", f"{begin}\nHm.\n{end[:-2]}", begin[:-2], begin,
        f"{end}\nYes.", f"Hm.\n{end}\nYes.", f"Yes. {begin}Hm.{end} No.", said + call, f"{said}Yes.\n{call}", f"{begin}\nHm.\n\n{call}", f"{begin}\nHm.\n{call}\n{end}\n", f"{begin}\nI write {call} then.\n{end}\nYes.", f"{begin}\nI write {call}\n{end}\n{call}", f"{begin}\n{call} and more", f"{said}{call}\n{said}{call}",
    ]  # fmt: skip
    opened = ["Hm.", f"Hm.\n{end}\n\nYes.", f"\n{end}\n\nYes.", said + "Yes.", f"Hm.\n{end}\n{call}", f"Hm.\n{call}", f"Hm.\n{end}{end}Yes."]
    closed = ["Yes.", f"\n\nYes. {end}", f"{end}\n\nYes.", said + "Yes.", call]
    prompts = {"": unsaid, f"{begin}\n": opened, f"{begin}\n\n{end}\n\n": closed}
    return [(prompt, answer) for prompt, answers in prompts.items() for answer in answers]


HERMES_CALL = "<tool_call>\n" + called("f", PLAIN) + "\n</tool_call>"

# Parsers of reasoning and of calls that vLLM's users combine.
REASONED: dict[tuple[str, str], list[tuple[str, str]]] = {
    ("qwen3", "hermes"): with_reasoning("<think>", "</think>", HERMES_CALL),
    ("qwen3", "qwen3_coder"): with_reasoning("<think>", "</think>", xml("f", city="Bonn")),
    ("deepseek_r1", "hermes"): with_reasoning("<think>", "</think>", HERMES_CALL),
    ("mistral", "mistral"): with_reasoning("[THINK]", "[/THINK]", f"[TOOL_CALLS]f[ARGS]{PLAIN}"),
    ("granite", "granite"): with_reasoning("Here is my thought process:", "Here is my response:", f"<|tool_call|>[{called('f', PLAIN)}]"),
    ("gemma4", "gemma4"): with_reasoning("<|channel>thought", "<channel|>", '<|tool_call>call:f{city:<|"|>Bonn<|"|>}<tool_call|>'),
}
