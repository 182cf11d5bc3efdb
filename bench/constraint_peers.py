"""Measures how long a peer needs to compile each schema and each mask of its answer: constraint_peers.py llguidance|xgrammar CASES VOCABULARY.

Prints `ready` when it is, then a line of JSON per case: null if the schema is refused. Milliseconds of processor time; a mask's time
includes accepting the token. If the peer rejects a token (order of keys, white space), the rest of the answer is skipped.
"""

import base64
import json
import sys
from time import process_time


def read_tokens(path: str) -> list[bytes]:
    with open(path, encoding="ascii") as file:
        return [base64.b64decode(line.split()[0]) for line in file]


class Llguidance:
    def __init__(self, tokens: list[bytes]) -> None:
        import llguidance
        import llguidance.numpy

        class Tokens:
            eos_token_id = len(tokens)
            bos_token_id = None
            special_token_ids = [len(tokens)]

            def __call__(self, text: bytes) -> list[int]:
                return list(text)

        Tokens.tokens = [*tokens, b"<end>"]
        self.lib, self.numpy = llguidance, llguidance.numpy
        slices = llguidance.LLTokenizer.json_slices()
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens()), slices=slices)
        self.mask = llguidance.numpy.allocate_token_bitmask(1, self.tokenizer.vocab_size)

    def begin(self, schema: str):
        matcher = self.lib.LLMatcher(self.tokenizer, self.lib.LLMatcher.grammar_from_json_schema(schema), log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        return matcher

    def step(self, matcher, token: int) -> bool:
        self.numpy.fill_next_token_bitmask(matcher, self.mask)
        return matcher.consume_token(token)


class Xgrammar:
    def __init__(self, tokens: list[bytes]) -> None:
        import xgrammar

        self.lib = xgrammar
        info = xgrammar.TokenizerInfo([*tokens, b"<end>"], stop_token_ids=[len(tokens)])
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1)
        self.mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)

    def begin(self, schema: str):
        return self.lib.GrammarMatcher(self.compiler.compile_json_schema(schema, any_order=True, strict_mode=False))

    def step(self, matcher, token: int) -> bool:
        matcher.fill_next_token_bitmask(self.mask)
        return matcher.accept_token(token)


def times(peer, schema: str, tokens: list[int]):
    begun = process_time()
    try:
        matcher = peer.begin(schema)
    except Exception:  # noqa: BLE001  each peer has errors of its own
        return None
    compile_ms, mask_ms = (process_time() - begun) * 1000, []
    for token in tokens:
        begun = process_time()
        taken = peer.step(matcher, token)
        mask_ms.append((process_time() - begun) * 1000)
        if not taken:
            break
    return {"compileMs": compile_ms, "maskMs": mask_ms}


name, cases, vocabulary = sys.argv[1:]
peer = {"llguidance": Llguidance, "xgrammar": Xgrammar}[name](read_tokens(vocabulary))
print("ready", flush=True)
with open(cases, encoding="utf-8") as file:
    for case in json.load(file):
        print(json.dumps(times(peer, case["schema"], case["tokens"])), flush=True)
