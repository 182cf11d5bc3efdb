"""Writes what Python reads in the arguments of a call, `f(a=…)`: its own ast.literal_eval, then json.dumps; null where either refuses.

Two things are as in vLLM's parsers (their get_parameter_value, 0.32): true, false and null are names of values, and a set
is a list in the order in which it is written.
"""

import ast
import json
import warnings

from provenance import FIXTURES, made_with

VALUES = [
    "1", "0", "00", "007", "1_000", "1__0", "_1", "1_", "-1", "+1", "- 1", "--1", "-(1)", "-((2))", "~1", "not 1", "1+1", "1+2j", "3j",
    "0x1F", "0XfF", "0o17", "0b101", "0o8", "0b2", "0x", "0x_f", "1.", ".5", "1.5e3", "1e5", "1E-3", "1e999", "-1e999", "007.5", "00.5e1",
    "1_0.0_1", "1.e2", ".", "1abc", "1if", "123456789012345678901234567890", "1e16", "-0.0", "-0",
    "True", "False", "None", "true", "false", "null", "nil", "Ellipsis", "...", "x", "x.y", "f(1)", "-True", "+None",
    "'a'", '"a"', "''", '""', "'a\"b'", "'it\\'s'", "'a' 'b'", "'a'\n'b'", "('a'\n 'b')", "'a' \"b\" '''c'''", "'a' b'b'", "b'a'", "r'a\\n'",
    "R'\\''", "u'a'", "U\"a\"", "ur'a'", "rb'a'", "f'a'", "f'{x}'", "'''a'b''c'''", '"""two\nlines "quoted" """', "'''\\\n'''", "'a\nb'",
    "'a\\\nb'", "'a\r\nb'", "'''a\r\nb'''", "'''a\rb'''", "r'a\\\nb'",
    "'\\n\\t\\r\\a\\b\\f\\v\\\\'", "'\\0'", "'\\12'", "'\\123'", "'\\1234'", "'\\777'", "'\\8'", "'\\x41'", "'\\x4'", "'\\xg0'", "'\\u00e9'",
    "'\\u00e'", "'\\U0001F600'", "'\\U00110000'", "'\\q'", "'\\/'", "'\\ud83d\\ude00'", "r'\\u00e9'", "'\\'", "r'\\'", "'日本 😀 é'",
    "'\\N{BULLET}'" , "'#no comment'", "'a # b'", "'\t'", "'\x01'", "'\x00'",
    "[]", "[1]", "[1,]", "[1, 2]", "[,]", "[1,,2]", "[1 2]", "[[1], []]", "()", "(1)", "(1,)", "(1, 2)", "((1))", "((1),)", "((1, 2))", "(,)",
    "{}", "{1}", "{1, 2}", "{1, 2,}", "{1: 2}", "{'a': 1,}", "{'a': {'b': [1, (2, 3)]}}", "{'a'}", "{'b', 'a'}", "{'a': 1, 'b'}", "{'a', 'b': 1}",
    "{1: 'a', 1.5: 'b', None: 'd'}", "{True: 'c'}", "{1.0: 2}", "{1e5: 2}", "{1e16: 2}", "{0x10: 1}", "{-1: 2}", "{(1, 2): 3}", "{(1): 2}", "{[1]: 2}", "{'a' 'b': 1}",
    "{**{'a': 1}}", "{'a': *x}", "[*x]", "[1 for x in y]", "lambda: 1", "1 if 2 else 3", "a:=1", "{'a'=1}", "{a: 1}", "{'a': a}", "[a]", "{'a':1 'b':2}",
    "[1, # one\n 2]", "(1 # one\n)", "[1\n,\n2\n]", "[1, \\\n2]", "[1\\ ]", "'a'if", "'a'1", "1'a'", "[1](2)", "[1][0]", "'a'.b", "'a' % 1", "1 == 1", "1 < 2", "`1`", "$x", "?",
    "{'a': 1, 'a': 2}", "[True, False, None, true]", "{'k': null}", "{true: 1}", "[[[[[[1]]]]]]", "é", "[1;2]", "''''''", "'''a''''", "\"\"\"\"a\"\"\"", "'a''b'", "\"a\"\"b\"",
]
CALLS = [
    "a=1, b='x'", "a=1,", "", ",", "a=1 b=2", "a=1, a=2", "1", "'x'", "a=1, 2", "*x", "**{'a': 1}", "größe=1", "日本='x'", "a = 1", "a\n=\n1", "a==1", "a:1", "a=", "=1", "a-b=1", "$a=1", "ﬁ=1",
    "a=1 # c\n, b=2", "a=')', b=']'", "a='\"', b=\"'\"", "a=[(], b=1", "a={'x': ')'}", "a=1)", "_=1", "a1=1", "1a=1", "a=1;",
]  # fmt: skip
NAMES = {"true": True, "false": False, "null": None}


class Plain(ast.NodeTransformer):
    """JSON's names as constants, sets as lists."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(NAMES[node.id]) if node.id in NAMES else node

    def visit_Set(self, node: ast.Set) -> ast.expr:
        return ast.List([self.visit(each) for each in node.elts], ast.Load())


def read(arguments: str) -> str | None:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
            return None
        names = [keyword.arg for keyword in call.keywords]
        if None in names or len(set(names)) < len(names):
            return None
        values = {keyword.arg: ast.literal_eval(Plain().visit(keyword.value)) for keyword in call.keywords}
        return json.dumps(values, ensure_ascii=True, allow_nan=False)
    except (SyntaxError, ValueError, TypeError, KeyError):
        return None


def main() -> None:
    warnings.simplefilter("ignore", SyntaxWarning)
    warnings.simplefilter("ignore", DeprecationWarning)
    cases = [[text, read(text)] for text in [*(f"a={value}" for value in VALUES), *CALLS]]
    content = {"made_with": made_with(), "cases": cases}
    (FIXTURES / "python-literals.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
