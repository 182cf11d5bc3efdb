// A tokenizer of 260 tokens for test models, for programs that require one: a token for each byte, and four more.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BYTE_CHARACTERS } from '#base/byte-characters';

const SPECIAL = ['<eos>', '<pad>', '<user>', '<assistant>'];

export async function writeByteTokenizer(directory: string): Promise<void> {
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false };
  const tokenizer = {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL.map((content, i) => ({
      ...{ id: 256 + i, content, special: true },
      ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
    })),
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      ...{ dropout: null, unk_token: null, continuing_subword_prefix: '', end_of_word_suffix: '' },
      ...{ fuse_unk: false, byte_fallback: false, ignore_merges: false },
      vocab: Object.fromEntries(BYTE_CHARACTERS.map((character, byte) => [character, byte])),
      merges: [],
    },
  };
  const config = {
    tokenizer_class: 'PreTrainedTokenizerFast',
    ...{ eos_token: '<eos>', pad_token: '<pad>', model_max_length: 512 },
    chat_template:
      '{% for message in messages %}<{{ message.role }}>{{ message.content }}<eos>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}',
  };
  await writeFile(join(directory, 'tokenizer.json'), JSON.stringify(tokenizer));
  await writeFile(join(directory, 'tokenizer_config.json'), JSON.stringify(config));
}
