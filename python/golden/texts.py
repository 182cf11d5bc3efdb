"""Text for training the tiny tokenizers, and text for testing them. Both written for this purpose."""

import random

SUBJECTS = ["The model", "A rollout", "My neighbour", "This adapter", "The little server", "She", "They", "Nobody"]
VERBS = ["answers", "counts", "sorts", "reverses", "doesn't like", "couldn't see", "was training", "is reading"]
OBJECTS = ["the numbers", "a short word", "every token", "42 apples", "the weather in Paris", "its own reward", "tools"]
ENDINGS = [".", "!", "?", ", again.", " - really.", "\n", ".\n\n", ": yes, no or maybe."]
CODE = ["def add(a, b):\n    return a + b\n", 'const x = { "name": "lookup", "arguments": {} };\n', "if (n > 1) { n -= 1; }\n"]
OTHER = ["Größe und Maß über alles\n", "être ou ne pas être\n", "добрый день\n", "今日は良い天気\n", "مرحبا بالعالم\n", "🙂 🚀\n"]


def training_corpus(seed: int) -> list[str]:
    """Returns about 40 kB of text, the same for the same seed."""
    random_ = random.Random(seed)
    sentences = [" ".join(map(random_.choice, [SUBJECTS, VERBS, OBJECTS])) + random_.choice(ENDINGS) for _ in range(1000)]
    return sentences + [random_.choice(CODE) for _ in range(60)] + [random_.choice(OTHER) for _ in range(60)]


TEXTS: dict[str, str] = {
    "nothing": "",
    "one word": "yes",
    "a sentence": "The model counts 42 apples, again.",
    "leading and trailing spaces": "  two before, three after   ",
    "only spaces": "     ",
    "tabs and line ends": "one\ttwo\n\nthree\r\nfour \n five\n",
    "trailing line ends": "done\n\n\n",
    "digits": "1 12 123 1234 12345 3.14159 1,000,000",
    "contractions": "I'll say it doesn't, they've said we're, he'd SAY IT'S",
    "capitals": "ALL CAPS and CamelCaseWords and snake_case_words",
    "punctuation": "wait... what?! (yes) [no] {maybe} -- \"quoted\" & 'single' #1 50% a/b\\c",
    "python": "def add(a, b):\n    if a > 1:\n        return a + b  # sum\n    return None\n",
    "json": '{"name": "lookup", "arguments": {"city": "Paris", "days": [1, 2, 3]}}',
    "german": "Größe und Maß: äöüß ÄÖÜ",
    "accents composed": "caf\u00e9 na\u00efve",
    "accents decomposed": "cafe\u0301 nai\u0308ve",
    "cyrillic": "добрый день, как дела?",
    "chinese and japanese": "今日は良い天気です。你好，世界！",
    "arabic": "مرحبا بالعالم ١٢٣",
    "devanagari": "नमस्ते दुनिया",
    "emoji": "🙂🚀 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇫🇷",
    "odd spaces": "no\u00a0break thin\u2009space zero\u200bwidth ideographic\u3000space",
    "mathematics": "∑ x² ≤ √2 · π ≈ 4.44 → ½",
    "fullwidth": "ＡＢＣ １２３ ﬁ ligature",
    "chat tokens": "<|im_start|>user\nhi<|im_end|>\n<|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>",
    "almost chat tokens": "<|im_start> <|imstart|> < |im_end|> <|eot_id>",
    "tool tags": 'before <tool_call>\n{"name": "f"}\n</tool_call> after <think>\n\n</think>\n\nok',
    "special tokens with spaces": "a <|im_end|> b<|endoftext|>c  <|eot_id|>  <|begin_of_text|> d",
    "a long word": "antidisestablishmentarianism" * 3,
    "nul and controls": "a\u0000b\u0007c\u001b[0m",
}
