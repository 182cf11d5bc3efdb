// The table of families in docs/guides/models.md equals what this run measures. To rewrite it: npx vitest run
// test/engine/golden/family-table.test.ts -u
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { asTable } from '../../support/guide-table.ts';
import { measureFamily } from './family-gaps.ts';
import { FAMILIES, type FamilyName } from '../../support/golden/fixture.ts';

const GUIDE = fileURLToPath(new URL('../../../docs/guides/models.md', import.meta.url));

const NOTES: Readonly<Record<FamilyName, readonly [realModels: string, layers: string]>> = {
  llama: ['Llama 2 and 3, SmolLM2', 'the pattern of the others'],
  qwen2: ['Qwen2, Qwen2.5', 'biases on q, k, v'],
  qwen3: ['Qwen3', 'norms on the queries and keys of a head'],
  mistral: ['Mistral 7B, Nemo, Small', 'windows, where config.json has one'],
  smollm3: ['SmolLM3', 'every fourth without positions'],
  granite: ['Granite 3', 'multipliers'],
  olmo2: ['OLMo 2', 'norms behind attention and MLP, and over all queries and keys'],
  olmo3: ['OLMo 3', 'those of OLMo 2, windows in three of four, yarn in the fourth'],
  phi3: ['Phi-3, Phi-3.5, Phi-4 (also mini)', 'fused tensors, heads that turn in part, LongRoPE, windows'],
  gemma2: ['Gemma 2', 'scaled embeddings, norms on both sides, GeGLU, soft-caps, windows in every other'],
  gemma3_text: [
    'Gemma 3 270M and 1B',
    'those of Gemma 2 with norms on heads instead of soft-caps, windows in five of six',
  ],
  qwen3_moe: ['Qwen3 30B-A3B, 235B-A22B', 'those of Qwen3 with experts'],
  mixtral: ['Mixtral 8x7B, 8x22B', 'those of Mistral with experts'],
};

const HEAD = ['`model_type`', 'real models', 'what its layers have', 'logits', 'at 2,048', 'gradient', 'greedy tokens'];
const WORDS = 3;

/** The next larger power of ten, at least 1e-5: measurements on different machines differ by less than that. */
const below = (gap: number): string => `< 1e${Math.max(-5, Math.floor(Math.log10(gap)) + 1)}`;

test('the guide says how far each family is from Transformers', { timeout: 600_000 }, async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'whetstone-families-'));
  onTestFinished(() => rm(scratch, { recursive: true }));
  const rows: string[][] = [];
  for (const family of FAMILIES) {
    const { logits, farLogits, gradient, greedyEqual, greedyTotal } = await measureFamily(
      family,
      join(scratch, family),
    );
    const gaps = [logits, farLogits, gradient].map(below);
    rows.push([`\`${family}\``, ...NOTES[family], ...gaps, `${greedyEqual} of ${greedyTotal}`]);
  }
  const text = await readFile(GUIDE, 'utf8');
  const table = /^\| `model_type` [^]*?\n(?=\n)/m.exec(text);
  expect(table, 'the table of families is gone from the guide').not.toBeNull();
  await expect(text.replace(table![0], asTable(WORDS, [HEAD, ...rows]))).toMatchFileSnapshot(GUIDE);
});
