// The table of families at real sizes in docs/guides/models.md matches the files that `npm run bench -- families` wrote and the guide
// links, a file per processor: the first has most models; those measured only on another are marked with a star.
// To rewrite it: npx vitest run test/engine/families-at-size.test.ts -u
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { gigabytes } from '#base/gigabytes';
import type { FamilyResults } from '../../bench/families.ts';
import { FAMILY_MODELS } from '../../bench/family-models.ts';
import { asTable } from '../support/guide-table.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GUIDE = `${ROOT}docs/guides/models.md`;

const HEAD = ['model', '`model_type`', 'ready', 'at most', 'prefill', 'decode', 'decode × 8', 'SFT', 'RL'];
const WORDS = 2;

test('the guide states the memory of each family at real size, or what it would have needed', async () => {
  const text = await readFile(GUIDE, 'utf8');
  const linked = [...text.matchAll(/\]\(\.\.\/\.\.\/(bench\/results\/families\/[^)]+)\)/g)].map(
    ([, path]) => ROOT + path!,
  );
  const results = await Promise.all(linked.map(readResults));
  const rows = FAMILY_MODELS.flatMap(({ name }) => {
    const from = results.find(({ models }) => isMeasured(models[name])) ?? results[0]!;
    const model = from.models[name];
    return model ? [rowOf(from === results[0] ? name : `${name}\\*`, model, from.memoryGB * 1e9)] : [];
  });
  const table = /^\| model +\| `model_type` [^]*?\n(?=\n)/m.exec(text);
  expect(table, 'the table of families at real sizes is gone from the guide').not.toBeNull();
  await expect(text.replace(table![0], asTable(WORDS, [HEAD, ...rows]))).toMatchFileSnapshot(GUIDE);
});

const readResults = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as FamilyResults;

type Model = FamilyResults['models'][string];

const isMeasured = (model: Model | undefined): boolean => model !== undefined && 'tokensPerSecond' in model;

function rowOf(name: string, model: Model, memoryBytes: number): string[] {
  const words = [name, `\`${model.family}\``];
  if ('leastBytes' in model) {
    const why = model.leastBytes > memoryBytes ? 'refused' : 'not run';
    return [...words, why, `needs ${gigabytes(model.leastBytes)}`, '', '', '', '', ''];
  }
  const { readyBytes, mostBytes, tokensPerSecond, jobs } = model;
  const { prefill, decode } = tokensPerSecond;
  const memory = [readyBytes, mostBytes].map((bytes) => gigabytes(bytes, 2));
  const speeds = [prefill, decode[1], decode[8]].map((speed) => speed.toFixed(speed < 100 ? 1 : 0));
  const times = [jobs.sft, jobs.rl].map(
    ({ seconds, processorSeconds }) => `${seconds.toFixed(0)} (${processorSeconds.toFixed(0)})`,
  );
  return [...words, ...memory, ...speeds, ...times];
}
