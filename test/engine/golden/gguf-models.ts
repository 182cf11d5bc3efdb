// Tiny models of the fixtures as whole model directories: with a tokenizer, which the fixtures lack, and without what llama.cpp
// does not support.
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BYTE_CHARACTERS } from '#base/byte-characters';
import { openSafetensors, writeSafetensors } from '#model-files/safetensors';
import { PRE_TOKENIZERS } from '#model-files/gguf/pre-tokenizers';
import { fixturePath, type FamilyName } from '../../support/golden/fixture.ts';

/** If llama.cpp does not support the fixture's configuration of a family, the one used instead. */
const IN_LLAMA_CPP: Partial<Record<FamilyName, Record<string, unknown>>> = {
  mistral: { sliding_window: null },
  smollm3: { no_rope_layers: [1, 1] },
  phi3: { sliding_window: null },
  gemma2: { query_pre_attn_scalar: 16 },
  mixtral: { sliding_window: null },
  qwen3_moe: { mlp_only_layers: [] },
  olmo3: {
    rope_parameters: {
      full_attention: {
        rope_type: 'yarn',
        factor: 4,
        original_max_position_embeddings: 64,
        rope_theta: 500_000,
      },
      sliding_attention: { rope_type: 'default', rope_theta: 500_000 },
    },
  },
  gemma3_text: { query_pre_attn_scalar: 16, layer_types: ['sliding_attention', 'sliding_attention'] },
};

export const GGUF_FAMILIES = [
  'llama',
  'qwen2',
  'qwen3',
  'mistral',
  'smollm3',
  'granite',
  'olmo2',
  'olmo3',
  'phi3',
  'gemma2',
  'gemma3_text',
  'qwen3_moe',
  'mixtral',
] as const satisfies readonly FamilyName[];

export async function writeWholeModel(family: FamilyName, directory: string): Promise<void> {
  const model = fixturePath(`${family}/model`);
  await mkdir(directory);
  for (const name of await readdir(model)) await copyFile(join(model, name), join(directory, name));
  const config = JSON.parse(await readFile(join(model, 'config.json'), 'utf8')) as { vocab_size: number };
  await writeJson(join(directory, 'config.json'), { ...config, ...IN_LLAMA_CPP[family] });
  if (family === 'qwen3_moe') await giveExperts(directory);
  const added = ['<s>', '</s>'].map((content, id) => ({ id, content, special: true, normalized: false }));
  const vocab = BYTE_CHARACTERS.slice(0, config.vocab_size - 2).map((character, i) => [character, i + 2] as const);
  await writeJson(join(directory, 'tokenizer.json'), {
    version: '1.0',
    added_tokens: added,
    pre_tokenizer: { type: 'Sequence', pretokenizers: PRE_TOKENIZERS['qwen2']!.splits },
    decoder: { type: 'ByteLevel' },
    model: { type: 'BPE', vocab: { '<s>': 0, '</s>': 1, ...Object.fromEntries(vocab) }, merges: [] },
  });
  const names = { bos_token: '<s>', eos_token: '</s>', tokenizer_class: 'PreTrainedTokenizerFast' };
  await writeJson(join(directory, 'tokenizer_config.json'), names);
}

/** Its second layer, whose MLP is dense, gets the experts of the third. */
async function giveExperts(directory: string): Promise<void> {
  const source = await openSafetensors(directory);
  const kept = source.names().filter((name) => !name.startsWith('model.layers.1.mlp.'));
  const given = source.names().filter((name) => name.startsWith('model.layers.2.mlp.'));
  const named = [
    ...kept.map((name) => ({ name, from: name })),
    ...given.map((from) => ({ name: from.replace('.2.', '.1.'), from })),
  ];
  const tensors = await Promise.all(
    named.map(async ({ name, from }) => {
      const values = await source.read(from);
      return { name, shape: source.shape(from), dtype: 'F32' as const, data: () => Promise.resolve(values) };
    }),
  );
  await source.close();
  await writeSafetensors(join(directory, 'model.safetensors'), tensors);
}

const writeJson = (path: string, value: unknown): Promise<void> => writeFile(path, JSON.stringify(value));
