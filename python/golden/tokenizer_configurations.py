"""A hundred tokenizer.json files: every pre-tokenizer, normalizer, decoder, post-processor, model and added-token option of tokenizers.
Each is a small model, shared by several, with other parts around it."""

import base64
import json
import struct

from texts import training_corpus
from tokenizer_texts import SCRIPTS
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK = [
    r"\p{N}{1,3}",
    r"[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
]
KIMI = r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def corpus() -> list[str]:
    return training_corpus(11) + [text for text in SCRIPTS.values() for _ in range(4)]


def trained(model, trainer, pre_tokenizer=None, normalizer=None) -> dict:
    tokenizer = Tokenizer(model)
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(corpus(), trainer)
    return json.loads(tokenizer.to_str())["model"]


def make_models() -> dict[str, dict]:
    byte_level = trained(
        models.BPE(),
        trainers.BpeTrainer(vocab_size=700, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False),
        pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]),
    )
    pieces = trained(
        models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        trainers.BpeTrainer(vocab_size=800, special_tokens=["<unk>", "<s>", "</s>", *BYTES], limit_alphabet=90, show_progress=False),
        pre_tokenizers.Split("▁", "merged_with_next"),
        normalizers.Replace(" ", "▁"),
    )
    # Gemma's: runs of spaces and words across them are tokens.
    spaces = trained(
        models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True),
        trainers.BpeTrainer(vocab_size=800, special_tokens=["<pad>", "<eos>", "<bos>", "<unk>", *BYTES], limit_alphabet=90, show_progress=False),
        pre_tokenizers.Split(Regex(r"\n+|[^\n]{1,12}"), "isolated"),
        normalizers.Replace(" ", "▁"),
    )
    characters = trained(
        models.BPE(unk_token="[UNK]"),
        trainers.BpeTrainer(vocab_size=500, special_tokens=["[UNK]"], limit_alphabet=80, show_progress=False),
        pre_tokenizers.WhitespaceSplit(),
    )
    ends = trained(
        models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
        trainers.BpeTrainer(vocab_size=500, special_tokens=["<unk>"], limit_alphabet=80, end_of_word_suffix="</w>", show_progress=False),
        pre_tokenizers.BertPreTokenizer(),
    )
    continued = trained(
        models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"),
        trainers.BpeTrainer(vocab_size=500, special_tokens=["[UNK]"], limit_alphabet=80, continuing_subword_prefix="##", show_progress=False),
        pre_tokenizers.Whitespace(),
    )
    unigram = trained(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=500, unk_token="<unk>", special_tokens=["<unk>", "<s>", "</s>"], show_progress=False),
        pre_tokenizers.Metaspace(),
    )
    word_piece = trained(
        models.WordPiece(unk_token="[UNK]"),
        trainers.WordPieceTrainer(vocab_size=600, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], limit_alphabet=120, show_progress=False),
        pre_tokenizers.BertPreTokenizer(),
    )
    word_level = trained(
        models.WordLevel(unk_token="<unk>"),
        trainers.WordLevelTrainer(vocab_size=150, special_tokens=["<unk>"], show_progress=False),
        pre_tokenizers.Whitespace(),
    )
    fallback = {**unigram, "byte_fallback": True, "vocab": [*unigram["vocab"][:3], *([byte, -25.0] for byte in BYTES), *unigram["vocab"][3:]]}
    some_bytes = {**pieces, "vocab": {token: id for token, id in pieces["vocab"].items() if token != "<0xF0>"}}
    return {
        "byte-level": byte_level,
        "pieces": pieces,
        "some bytes": some_bytes,
        "spaces": spaces,
        "characters": characters,
        "ends": ends,
        "continued": continued,
        "unigram": unigram,
        "unigram with bytes": fallback,
        "word pieces": word_piece,
        "words": word_level,
    }


def charsmap(rules: dict[str, str]) -> str:
    """As SentencePiece compiles its rules: a double array of bytes that leads to texts."""
    texts, places = b"", {}
    for key, value in rules.items():
        places[key.encode()] = len(texts)
        texts += value.encode() + b"\0"
    trie: dict = {}
    for key, place in places.items():
        node = trie
        for byte in key:
            node = node.setdefault(byte, {})
        node[None] = place
    units, used = {0: 0}, {0}

    def put(node: dict, at: int) -> None:
        labels = [0 if label is None else label for label in node]
        offset = next(o for o in range(1, 1 << 20) if all((at ^ o ^ label) not in used for label in labels))
        units[at] |= offset << 10 | (1 << 8 if None in node else 0)
        for label in labels:
            used.add(at ^ offset ^ label)
        for label, child in node.items():
            units[at ^ offset ^ (label or 0)] = child if label is None else label
        for label, child in node.items():
            if label is not None:
                put(child, at ^ offset ^ label)

    put(trie, 0)
    size = (max(units) | 255) + 1
    blob = b"".join(struct.pack("<I", units.get(i, 0)) for i in range(size))
    return base64.b64encode(struct.pack("<I", len(blob)) + blob + texts).decode()


NMT = {
    "\u00a0": " ", "\u3000": " ", "\t": " ", "\n": " ", "\r": " ", "\u200b": " ", "\u00ad": "", "\u0301": "", "ﬁ": "fi", "½": "1⁄2", "Ａ": "A",
    "①": "1", "e\u0301": "é", "u\u0308": "ü", "…": "...", "™": "TM", "が": "が", "ｶﾞ": "ガ", "㍿": "株式会社", "天": "天", "\r\n": " ", "🙂": ":)",
    "\u0001": "", "\ufeff": "", "Ω": "Ω", "각": "각", "ﷺ": "صلى الله عليه وسلم",
}

# Parts ------------------------------------------------------------------------------------------------------------------------------


def seq(kind: str, *parts: dict) -> dict:
    return {"type": "Sequence", kind: list(parts)}


def split(pattern: str, behavior: str = "Isolated", invert: bool = False, regex: bool = True) -> dict:
    return {"type": "Split", "pattern": {"Regex" if regex else "String": pattern}, "behavior": behavior, "invert": invert}


def replace(pattern: str, content: str, regex: bool = False) -> dict:
    return {"type": "Replace", "pattern": {"Regex" if regex else "String": pattern}, "content": content}


def level(prefix: bool = False, regex: bool = False, trim: bool = True) -> dict:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": trim, "use_regex": regex}


def metaspace(scheme: str = "always", splits: bool = True, mark: str = "▁") -> dict:
    return {"type": "Metaspace", "replacement": mark, "prepend_scheme": scheme, "split": splits}


def added(content: str, **flags: bool) -> dict:
    token = {"content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    assert not flags.keys() - token.keys()
    return {**token, **flags}


def template(first: list, last: list) -> dict:
    pieces = [*({"SpecialToken": {"id": token, "type_id": 0}} for token, _ in first), {"Sequence": {"id": "A", "type_id": 0}}]
    pieces += [{"SpecialToken": {"id": token, "type_id": 0}} for token, _ in last]
    tokens = {token: {"id": token, "ids": [id], "tokens": [token]} for token, id in [*first, *last]}
    pair = [*pieces, {"Sequence": {"id": "B", "type_id": 1}}]
    return {"type": "TemplateProcessing", "single": pieces, "pair": pair, "special_tokens": tokens}


BERT = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
PREPEND = {"type": "Prepend", "prepend": "▁"}
TO_MARK = replace(" ", "▁")
LLAMA = seq("normalizers", PREPEND, TO_MARK)
LLAMA_DECODER = seq("decoders", replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0})
GEMMA_DECODER = seq("decoders", replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"})
WORDS_DECODER = {"type": "WordPiece", "prefix": "##", "cleanup": True}
BERT_TOKENS = [added(token) for token in ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]] + [added("[MASK]", lstrip=True)]
LLAMA_TOKENS = [added(token) for token in ["<unk>", "<s>", "</s>"]]
ABC = [added("<|a|>"), added("<|b|>", lstrip=True, rstrip=True), added("<|c|>", special=False)]
STRIP = {"type": "Strip", "strip_left": True, "strip_right": True}


def configurations() -> dict[str, dict]:
    """Title → `model` (a name and changes of it) and the other parts of a tokenizer.json."""
    made: dict[str, dict] = {}

    def put(title: str, model: str, normalizer=None, pre=None, decoder=None, post=None, tokens=ABC, **changes) -> None:
        assert title not in made, title
        made[title] = {"model": model, "changes": changes, "added_tokens": tokens, "normalizer": normalizer, "pre_tokenizer": pre, "post_processor": post, "decoder": decoder}

    def byte_level(title: str, pre, normalizer=None, post=None, tokens=ABC, **changes) -> None:
        put(title, "byte-level", normalizer, pre, level(), post, tokens, **changes)

    for name, pattern in {"gpt2": GPT2, "llama3": LLAMA3, "qwen2": QWEN2, "o200k": O200K, "kimi": KIMI}.items():
        byte_level(name, seq("pretokenizers", split(pattern), level()), post=level(trim=False))
    byte_level("qwen2 with NFC", seq("pretokenizers", split(QWEN2), level()), {"type": "NFC"})
    byte_level("llama3 with whole words", seq("pretokenizers", split(LLAMA3), level()), post=template([("<|a|>", 700)], []), ignore_merges=True)
    byte_level("deepseek", seq("pretokenizers", *(split(each) for each in DEEPSEEK), level()))
    byte_level("digits and gpt2", seq("pretokenizers", {"type": "Digits", "individual_digits": True}, level(regex=True)))
    byte_level("groups of three digits from the right", seq("pretokenizers", split(r"(?=(\d{3})+(?!\d))"), split(GPT2), level()))
    byte_level("gpt2's own", level(regex=True), post=level(trim=True))
    byte_level("gpt2's own with a space", level(True, True), post=level(True, trim=True))
    byte_level("roberta", level(True, True), post={"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True, "add_prefix_space": True}, tokens=[added("<mask>", lstrip=True), *ABC])
    byte_level("roberta without trimming", level(False, True), post={"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": False, "add_prefix_space": False})
    byte_level("no split", level())
    byte_level("punctuation", seq("pretokenizers", {"type": "Punctuation", "behavior": "Contiguous"}, level()))
    byte_level("normalized to bytes", None, {"type": "ByteLevel"}, tokens=[added("größe", normalized=True, special=False), *ABC])
    byte_level("added words", seq("pretokenizers", split(QWEN2), level()), tokens=[added("word", single_word=True, special=False), added("<|a|>"), added("<|ab|>"), added("<|long|>"), added("<|long|>er"), added("two words", normalized=True, special=False)])
    byte_level("added with lower case", seq("pretokenizers", split(QWEN2), level()), {"type": "Lowercase"}, tokens=[added("Yesterday", normalized=True, special=False), added("Größe", normalized=False, special=False), added("word", normalized=True, single_word=True, lstrip=True, special=False), *ABC])
    byte_level("added letters of the table", seq("pretokenizers", split(QWEN2), level()), tokens=[added("é", special=False), added("天<", special=False), added(" x", special=False), *ABC])
    byte_level("processors in a sequence", seq("pretokenizers", split(LLAMA3), level()), post=seq("processors", level(True, trim=True), template([("<|a|>", 700)], [("<|c|>", 702)])))

    llama = {"normalizer": LLAMA, "decoder": LLAMA_DECODER, "tokens": [*LLAMA_TOKENS, *ABC]}
    put("llama2", "pieces", post=template([("<s>", 1)], []), **llama)
    put("llama2 with normalized tokens", "pieces", normalizer=LLAMA, decoder=LLAMA_DECODER, tokens=[added("<s>", normalized=True), added("</s>", normalized=True, special=False), added("word", normalized=True, special=False, rstrip=True)])
    put("llama2 without fusing", "pieces", **llama, fuse_unk=False, byte_fallback=False)
    put("llama2 with fusing only", "pieces", **llama, fuse_unk=True, byte_fallback=False)
    put("llama2 that lacks a byte", "some bytes", **llama)
    put("llama2 without unknown", "pieces", **llama, unk_token=None, byte_fallback=False)
    put("mistral", "pieces", None, metaspace("first", False), LLAMA_DECODER, template([("<s>", 1)], []), [*LLAMA_TOKENS, *ABC])
    for scheme in ["always", "first", "never"]:
        for splits in [True, False]:
            put(f"metaspace {scheme}{'' if splits else ' without splits'}", "pieces", None, metaspace(scheme, splits), metaspace(scheme, splits), None, [*LLAMA_TOKENS, *ABC])
    gemma_tokens = [*(added(token) for token in ["<pad>", "<eos>", "<bos>", "<unk>"]), added("<|a|>"), added("\n\n", special=False), added("▁▁", special=False), added("<|b|>", special=False)]
    put("gemma", "spaces", TO_MARK, split(" ", "MergedWithPrevious", regex=False), GEMMA_DECODER, template([("<bos>", 2)], []), gemma_tokens)
    put("gemma of older converters", "spaces", TO_MARK, None, GEMMA_DECODER, template([("<bos>", 2)], []), gemma_tokens)
    put("gemma with whole words", "spaces", TO_MARK, split("▁", "MergedWithPrevious", regex=False), GEMMA_DECODER, None, gemma_tokens, ignore_merges=True)
    put("stripped at both ends", "pieces", seq("normalizers", STRIP, LLAMA), None, seq("decoders", replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 2, "stop": 1}))
    put("stripped left", "pieces", seq("normalizers", {"type": "Strip", "strip_left": True, "strip_right": False}, TO_MARK), None, GEMMA_DECODER)
    put("stripped right", "pieces", seq("normalizers", {"type": "Strip", "strip_left": False, "strip_right": True}, TO_MARK), None, GEMMA_DECODER)

    for behavior in ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]:
        put(f"split {behavior}", "characters", None, split(" ", behavior, regex=False), None, tokens=[added("[UNK]"), *ABC])
        put(f"split {behavior} inverted", "characters", None, split(r"\p{L}+|\p{N}", behavior, True), {"type": "Fuse"})
        put(f"punctuation {behavior}", "characters", None, seq("pretokenizers", {"type": "WhitespaceSplit"}, {"type": "Punctuation", "behavior": behavior}), None, tokens=[])
    put("fused unknown", "characters", None, {"type": "WhitespaceSplit"}, None, tokens=[added("[UNK]")], fuse_unk=True)
    put("unknown that is not in the vocabulary", "characters", None, None, None, tokens=[], unk_token="missing")
    put("no unknown", "characters", None, {"type": "WhitespaceSplit"}, None, unk_token=None)
    put("delimiter", "characters", None, {"type": "CharDelimiterSplit", "delimiter": "e"}, None)
    put("fixed length", "characters", None, {"type": "FixedLength", "length": 3}, {"type": "Fuse"})
    put("scripts", "characters", None, {"type": "UnicodeScripts"}, {"type": "Fuse"})
    put("scripts and words", "pieces", {"type": "NFKC"}, {"type": "Sequence", "pretokenizers": [{"type": "UnicodeScripts"}, {"type": "WhitespaceSplit"}]}, {"type": "Fuse"})
    put("whitespace", "characters", None, {"type": "Whitespace"}, None)
    put("digits", "characters", None, {"type": "Digits", "individual_digits": False}, {"type": "Fuse"})
    put("ends of words", "ends", BERT, {"type": "BertPreTokenizer"}, {"type": "BPEDecoder", "suffix": "</w>"}, tokens=[added("<unk>"), *ABC])
    put("ends of words, split at spaces", "ends", {"type": "Lowercase"}, {"type": "WhitespaceSplit"}, {"type": "BPEDecoder", "suffix": "</w>"})
    put("continued words", "continued", None, {"type": "Whitespace"}, WORDS_DECODER, tokens=[added("[UNK]"), *ABC])

    unigram = {"decoder": metaspace(), "tokens": [*LLAMA_TOKENS, *ABC]}
    put("unigram", "unigram", None, metaspace(), post=template([], [("</s>", 2)]), **unigram)
    put("unigram t5", "unigram", {"type": "Precompiled", "precompiled_charsmap": charsmap(NMT)}, metaspace(), **unigram)
    put("unigram albert", "unigram", seq("normalizers", replace("``", '"'), {"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}, {"type": "Precompiled", "precompiled_charsmap": charsmap(NMT)}), metaspace(), **unigram)
    put("unigram xlnet", "unigram", seq("normalizers", replace(" {2,}", " ", True), STRIP), seq("pretokenizers", {"type": "WhitespaceSplit"}, metaspace()), **unigram)
    put("unigram nmt", "unigram", seq("normalizers", {"type": "Nmt"}, {"type": "NFKC"}, replace(" {2,}", " ", True)), metaspace(), **unigram)
    put("unigram never", "unigram", None, metaspace("never"), metaspace("never"))
    put("unigram whole", "unigram", LLAMA, None, metaspace())
    put("unigram with bytes", "unigram with bytes", None, metaspace("first"), seq("decoders", {"type": "ByteFallback"}, metaspace("first")))
    put("unigram with bytes, whole", "unigram with bytes", LLAMA, None, LLAMA_DECODER, tokens=[*LLAMA_TOKENS, *ABC])
    put("unigram without unknown", "unigram", None, metaspace(), metaspace(), unk_id=None)

    cased = {**BERT, "lowercase": False}
    around = {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]}
    bert = {"pre": {"type": "BertPreTokenizer"}, "decoder": WORDS_DECODER, "tokens": BERT_TOKENS}
    put("bert", "word pieces", BERT, post=around, **bert)
    put("bert cased", "word pieces", cased, post=template([("[CLS]", 2)], [("[SEP]", 3)]), **bert)
    put("bert with accents", "word pieces", {**BERT, "strip_accents": False}, **bert)
    put("bert without accents, cased", "word pieces", {**cased, "strip_accents": True}, **bert)
    put("bert not cleaned", "word pieces", {**BERT, "clean_text": False, "handle_chinese_chars": False}, **bert)
    put("bert with short words", "word pieces", BERT, max_input_chars_per_word=5, **bert)
    put("bert without cleaning up", "word pieces", BERT, {"type": "BertPreTokenizer"}, {**WORDS_DECODER, "cleanup": False}, tokens=BERT_TOKENS)
    put("words", "words", None, {"type": "Whitespace"}, None)
    put("words with lower case", "words", {"type": "Lowercase"}, {"type": "WhitespaceSplit"}, WORDS_DECODER)
    put("words without decoder or split", "words", STRIP, None, None)
    put("words for speech", "words", None, {"type": "Whitespace"}, {"type": "CTC", "pad_token": "<unk>", "word_delimiter_token": "|", "cleanup": True})
    put("words for speech as they are", "words", None, {"type": "Whitespace"}, {"type": "CTC", "pad_token": "<unk>", "word_delimiter_token": "|", "cleanup": False})

    for form in ["NFC", "NFD", "NFKC", "NFKD"]:
        put(f"characters in {form}", "characters", {"type": form}, {"type": "WhitespaceSplit"}, None)
    put("accents removed after NFD", "characters", seq("normalizers", {"type": "NFD"}, {"type": "StripAccents"}, {"type": "NFC"}), {"type": "WhitespaceSplit"}, None)
    put("accents removed", "characters", {"type": "StripAccents"}, {"type": "WhitespaceSplit"}, None)
    put("regular replacements", "characters", seq("normalizers", replace(r"\s+", " ", True), replace(r"[^\p{L}\p{N} ]", "", True), replace(r"(\d)\d*", "0", True), replace("th", "þorn")), {"type": "WhitespaceSplit"}, None)
    put("decoder with expressions", "characters", None, {"type": "WhitespaceSplit"}, seq("decoders", replace("[aeiou]+", "*", True), {"type": "Strip", "content": "t", "start": 1, "stop": 0}, {"type": "Fuse"}))
    put("another mark", "characters", None, metaspace("always", True, "_"), metaspace("always", True, "_"))
    for title, pattern in {
        "possessive": r"\p{L}++|\s++(?=\S)|\s+|[^\s\p{L}]{1,2}+",
        "looking around": r"(?<=\p{L})\d+|(?<!\s)\p{P}|\b\p{Lu}\w*|\S+?(?=[.,])|\S",
        "lazy and atomic": r"(?>\w+)\W??|.+?(?: |$)|\n",
        "classes": r"[[:alpha:]]+|[[:digit:]]{2}|[\w&&[^\p{L}]]|\h+|\R|[^\S\n]+|[\p{Greek}\p{Cyrillic}]+",
        "in any case": r"(?i)the|MODEL|(?-i:Größe)|[k-m]+|é",
    }.items():
        byte_level(f"regular: {title}", seq("pretokenizers", split(pattern), level()))
    put("no step of a decoder", "characters", None, {"type": "WhitespaceSplit"}, seq("decoders"))
    put("suffixes twice", "ends", None, {"type": "WhitespaceSplit"}, seq("decoders", {"type": "BPEDecoder", "suffix": "</w>"}, {"type": "BPEDecoder", "suffix": "e"}))
    put("suffixes, then strips", "ends", None, {"type": "WhitespaceSplit"}, seq("decoders", {"type": "BPEDecoder", "suffix": "e"}, {"type": "Strip", "content": " ", "start": 0, "stop": 2}))
    put("spaces as tokens", "characters", None, {"type": "WhitespaceSplit"}, None, tokens=[added(" ", lstrip=True, rstrip=True), added("▁", lstrip=True), added(",", rstrip=True)])
    put("a special token's text after normalization", "characters", {"type": "Lowercase"}, {"type": "WhitespaceSplit"}, None, tokens=[added("THE", normalized=True, special=False), added("the"), added("MODEL", normalized=True)])
    put("unknown pieces between trimmed places", "unigram", PREPEND, split(r"\p{L}+"), metaspace(), level(True), tokens=[])
    put("unknown pieces with roberta's places", "unigram", None, {"type": "Punctuation", "behavior": "Isolated"}, metaspace(), {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 1], "trim_offsets": True, "add_prefix_space": False})
    put("a first mark after what normalization removed", "pieces", {"type": "Nmt"}, metaspace("first"), LLAMA_DECODER, tokens=[added("\t", normalized=True, special=False)])
    put("places after a template", "byte-level", None, level(True, True), level(), seq("processors", template([("<|a|>", 700)], [("<|c|>", 702)]), level(True)))
    return made
