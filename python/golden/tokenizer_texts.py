"""Two hundred texts for tokenizers: scripts, emoji, marks, unusual spaces, long runs, and control tokens where they hardly belong."""

from texts import CODE, TEXTS

SCRIPTS = {
    "latin": "Žluťoučký kůň příšerně úpěl ďábelské ódy; İstanbul'da ısı, ﬃ ﬆ ĳ ŉ.",
    "vietnamese": "Tiếng Việt có nhiều dấu: ấ ầ ẩ ẫ ậ.",
    "greek": "Ξεσκεπάζω τὴν ψυχοφθόρα βδελυγμία ΌΣΟΣ.",
    "cyrillic": "Съешь ещё этих мягких французских булок, ёжик! Ї ґ Ђ.",
    "armenian": "Բարեւ աշխարհ, ինչպե՞ս ես։ և",
    "georgian": "გამარჯობა მსოფლიო ᲒᲐᲛᲐᲠᲯᲝᲑᲐ",
    "hebrew": "שָׁלוֹם עוֹלָם, מה נשמע? ״כן״",
    "arabic": "السَّلامُ عَلَيْكُم، كيف الحال؟ ٠١٢٣ لا",
    "syriac": "ܫܠܡܐ ܥܠܡܐ",
    "devanagari": "नमस्ते दुनिया! क्षत्रिय ज़िंदगी १२३।",
    "bengali": "আমি বাংলায় গান গাই। কো",
    "gurmukhi": "ਸਤ ਸ੍ਰੀ ਅਕਾਲ ਸ਼",
    "gujarati": "કેમ છો મિત્રો",
    "tamil": "வணக்கம் உலகம் ஸ்ரீ கொ",
    "telugu": "హలో ప్రపంచం",
    "kannada": "ನಮಸ್ಕಾರ ಪ್ರಪಂಚ ಕೋ",
    "malayalam": "നമസ്കാരം ലോകം ൻ",
    "sinhala": "ආයුබෝවන් ශ්‍රී",
    "thai": "สวัสดีชาวโลก ๑๒๓ ทำไม",
    "lao": "ສະບາຍດີ ຊາວໂລກ ຳ",
    "tibetan": "བཀྲ་ཤིས་བདེ་ལེགས། གྷ",
    "myanmar": "မင်္ဂလာပါ ကမ္ဘာလောက",
    "khmer": "សួស្តី​ពិភពលោក",
    "ethiopic": "ሰላም ዓለም፤ ፩፪፫",
    "cherokee": "ᏣᎳᎩ ꮳꮃꭹ",
    "mongolian": "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ",
    "chinese": "我爱你，中国！𠮷野家 〇 ㍿ ㊙ ｶﾞ",
    "japanese": "ひらがなとカタカナ、が ガ ｶﾞ ー 々。",
    "korean": "안녕하세요 세계! 각 ㄱㅏ ㈜",
    "braille": "⠓⠑⠇⠇⠕",
    "gothic": "𐌲𐌿𐍄𐌰 𐍂𐌰𐌶𐌳𐌰",
    "mathematical": "𝒽𝑒𝓁𝓁𝑜 𝟙𝟚𝟛 ℝ ℵ x² xₙ ½ Ⅷ ① ∑∫√ K Å Ω",
}

EMOJI = {
    "faces": "🙂😀😂🥲🫠",
    "family": "👩‍👩‍👧‍👦 👨‍🚀 🧑🏽‍💻",
    "skins and flags": "👍👍🏻👍🏿 🇫🇷🇩🇪 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
    "keycaps": "1️⃣ #️⃣ ©️ ™ ☎️ ❤️‍🔥",
    "in words": "I ❤️ NY🗽and🍕!",
    "variation": "☺︎ ☺️ 葛󠄀",
}

MARKS = {
    "composed": "é à ü ñ ç Å ệ ǖ",
    "decomposed": "e\u0301 a\u0300 u\u0308 n\u0303 c\u0327 A\u030a e\u0323\u0302 u\u0308\u0304",
    "in another order": "a\u0301\u0323 a\u0323\u0301 q\u0307\u0323 e\u0302\u0301\u0323",
    "marks alone": "\u0301 \u0308a \u0345\u0334",
    "many marks": "Z\u0351\u036b\u0343\u036a\u0302\u036b\u033d\u034f\u0334\u0319\u0324\u031e\u0349\u035a\u032f\u031e\u0320\u034dA\u036b\u0357\u0334\u0362",
    "mark after space": "a \u0301b\u00a0\u0327c",
    "hangul parts": "\u1112\u1161\u11ab \uac00\u11a8 \u1100\u1161",
    "singletons": "\u212b \u2126 \u0340 \uf900 \u2f800",
    "compatibility": "ﬁ ﬀ ½ ① ｈａｌｆ ﷺ ㌀ ² ℃ … ™",
    "excluded": "\u0958 \ufb2a \u2adc \u0f43",
    "cases": "İıŞß ẞ ΌΣ Σ ǅ ŉ ﬅ ǰ ΐ K",
}

SPACES = {
    "kinds": "a\u00a0b\u1680c\u2000d\u2003e\u2009f\u202fg\u205fh\u3000i",
    "invisible": "a\u200bb\u200cc\u200dd\u2060e\ufefff\u00adg\u180eh",
    "line ends": "a\nb\r\nc\rd\u0085e\u2028f\u2029g\x0bh\x0ci",
    "mixed runs": " \t \n\n  \r\n \u3000 x",
    "tabs": "\tif x:\n\t\treturn\t\t1\n",
    "trailing": "end   ",
    "leading": "   begin",
    "single": " ",
    "two": "  ",
    "line end": "\n",
    "before punctuation": "what ? no ! yes , and . it 's do not n't 'm",
    "indented": "def f():\n    if a:\n        return b\n\n\n    else:\n      c\n",
    "many lines": "a\n\n\n\nb\n \n \nc",
    "spaces at marks": "▁a ▁ b▁▁c Ġd ĠĠ Ċ",
}

RUNS = {
    "spaces": "x" + " " * 300 + "y",
    "only spaces": " " * 100,
    "line ends": "a" + "\n" * 120 + "b",
    "letters": "a" * 400,
    "digits": "1234567890" * 30,
    "dashes": "-" * 150 + " " + "=" * 75,
    "emoji": "🙂" * 60,
    "marks": "e" + "\u0301" * 50,
    "alternating": "ab1 " * 80,
    "chinese": "天" * 120,
    "mixed": "aé天🙂" * 40,
    "words": "the model answers " * 40,
}

CONTROL = {
    "pressed together": "<|a|><|b|><|c|>",
    "with spaces": "  <|a|>  x  <|b|>  y  <|c|>  ",
    "line ends": "a\n<|a|>\nb\n\n<|b|>\n\nc<|c|>\n",
    "inside words": "un<|b|>known word word's awordb word-word word. Word WORD",
    "one that begins another": "<|a|>x <|a| <|a|>> <<|a|> <|a|>|> <|ab|>",
    "longer one": "<|long|> <|long|>er <|long|>er! <|long|>e",
    "normalized": "Größe größe GRÖSSE x Yesterday yesterday YESTERDAY",
    "normalized with spaces": "a  two words b two  words two words",
    "special words": "[CLS] a [SEP] b [MASK] c[MASK]d  [MASK]  e [PAD][UNK]",
    "sentence pieces": "<s>a</s> <s> b </s><unk>c <pad>",
    "only one": "<|a|>",
    "at the ends": "<|a|>middle<|c|>",
    "in other scripts": "天<|a|>天 é<|b|>é 🙂<|c|>🙂",
    "unusual spaces": "\u00a0<|b|>\u3000x\t<|c|>\r\ny\u2028<|a|>",
    "single words": "word word, word_word wordé éword word天 word1 1word (word) word",
    "byte tokens": "<0x41> <0xE4><0xBD> <0x4",
    "nested": "<|a<|a|>|a|>",
    "half": "<|a <|a| |a|> a|>",
    "repeated": "<|b|>" * 20,
    "spaces taken twice": "<|b|> xl <|b|> x 天<|b|> <|a|>",
    "words between": "<|a|>user\nHello there.<|b|>\n<|a|>assistant\nHi!<|b|>\n",
}

OTHER = {
    "nul and controls": "a\0b\x01c\x07d\x7fe\x8ff\x9fg\x1b[0m",
    "replacement": "a\ufffdb\ufffe\uffffc",
    "private use": "\ue000\U000f0000x",
    "unassigned": "\U000323af\U000e0fff",
    "bom": "\ufeffstart",
    "directions": "\u202eabc\u202c \u2067x\u2069",
    "long word": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2,
    "url": "https://example.org/a/b?c=d&e=%20f#g user@example.org",
    "numbers": "0 00 1,234.56 1e-5 0x1F ١٢٣ 一二三 Ⅳ 10²  3½ 1234567 12345678",
    "quotes": "\"It's\" ‘it’s’ “we’re” «là» I'M he'd THEY'LL don't l'été 'tis 'S 'ſ",
    "markup": "<div class=\"x\">&amp;</div> **bold** `code` [a](b) # h",
    "json": '{"a": [1, 2.5, null, true], "b\\n": "\\u00e9"}',
    "code": "".join(CODE),
    "camel case": "getElementById XMLHttpRequest iOS15Beta snake_case_1 kebab-case",
    "hyphens": "a-b a—b a–b a‐b a‑b −1 ¬",
    "symbols": "$5 €6 £7 ¥8 50% a+b=c a<b>c a|b ^ ~ `x` §1 ¶ • → ⇒ ✓ ★",
    "empty-like": "\u200b",
    "letters apart": "H e l l o",
    "capitals": "HELLO WORLD Hello World hELLO",
    "one letter": "a",
    "one digit": "7",
    "one point": ".",
    "one emoji": "🦕",
    "one mark": "\u0301",
    "newer characters": "a\u0c84b\u2e52c e\u1ac5\u0301 \u0c04\u0afa \U0001e08f \u32ff \U00010780\u08e2x",
    "one byte-level letter": "Ġ",
    "one space mark": "▁",
}

WORDS = "the model answers Größe добрый день 今日は 🙂 e\u0301 <|a|> word 42 \n \u00a0 ▁ ' - ﬁ".split(" ")


def combined(count: int) -> dict[str, str]:
    """Pieces of the above in a fixed order that looks like none."""
    made = {}
    for i in range(count):
        picks = [WORDS[(i * 7 + j * (3 + i % 5)) % len(WORDS)] for j in range(4 + i % 9)]
        made[f"combined {i}"] = ("  " if i % 4 == 0 else " " if i % 4 < 3 else "").join(picks)
    return made


def all_texts() -> dict[str, str]:
    groups = {"": TEXTS, "script ": SCRIPTS, "emoji ": EMOJI, "marks ": MARKS, "spaces ": SPACES, "runs ": RUNS, "control ": CONTROL, "other ": OTHER}
    texts = {prefix + name: text for prefix, group in groups.items() for name, text in group.items()}
    texts.update(combined(200 - len(texts)))
    return texts


if __name__ == "__main__":
    print(len(all_texts()), len(all_texts()) - len(combined(0)))
