// The table of a model's memory in docs/guides/models.md matches the file that `npm run bench -- model-memory` wrote and the guide
// links, and the measurements meet the goals: the plan is right, and an idle server takes little in addition to its weights. To
// rewrite it: npx vitest run test/engine/model-memory.test.ts -u
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { SERVING_PRECISIONS } from '#engine/capabilities';
import { decoderParameters } from '#model-files/decoder-parameters';
import type { HeldMemory, ModelMemory, ModelMemoryResults } from '../../bench/model-memory.ts';
import type { ProcessMemory } from '../../bench/process-memory.ts';
import { SHAPES } from '../../bench/shapes.ts';
import { asTable } from '../support/guide-table.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const GUIDE = `${ROOT}docs/guides/models.md`;

const NAMES = { '135m': '135M', 'qwen3-0.6b': 'Qwen3-0.6B', '1b': '1B', 'qwen3-1.7b': 'Qwen3-1.7B' };
type Shape = keyof typeof NAMES;

const HEAD = [
  'model',
  'precision',
  'process',
  'idle',
  'while it samples',
  '12 s later',
  'while it samples and trains',
  'planned',
  'planned / most',
];
const WORDS = 7;
const PHASES = ['idle', 'sampling', 'rested', 'sampling and training'] as const;

const text = await readFile(GUIDE, 'utf8');
const [, linked] = /\]\(\.\.\/\.\.\/(bench\/results\/model-memory\/[^)]+)\)/.exec(text)!;
const { shapes } = JSON.parse(await readFile(ROOT + linked!, 'utf8')) as ModelMemoryResults;

/** By model and precision, in the order of the table. */
const measured = (Object.keys(NAMES) as Shape[]).flatMap((shape) =>
  SERVING_PRECISIONS.flatMap((precision) => {
    const memory = shapes[shape]?.[precision];
    return memory ? [{ shape, precision, memory }] : [];
  }),
);

const whole = ({ anonymousBytes, fileBytes }: ProcessMemory): number => anonymousBytes + fileBytes;
const most = ({ byPhase, startBytes = [0, 0] }: HeldMemory): number =>
  Math.max(...Object.values(byPhase).map(whole), ...startBytes);
const together = (memory: ModelMemory, phase: (typeof PHASES)[number]): number =>
  Object.values(memory).reduce((sum, { byPhase }) => sum + whole(byPhase[phase]), 0);
const plannedTogether = (memory: ModelMemory): number =>
  Object.values(memory).reduce((sum, { plannedBytes }) => sum + plannedBytes, 0);
const mostTogether = (memory: ModelMemory): number => Math.max(...PHASES.map((phase) => together(memory, phase)));

const shown = (bytes: number): string => (bytes / 1e9).toFixed(2);

test('the guide states what was measured', async () => {
  const rows = measured.flatMap(({ shape, precision, memory }) => {
    const head = (process: string) => [NAMES[shape], precision, process];
    const plan = (planned: number, most: number) => [shown(planned), (planned / most).toFixed(2)];
    const processes = (['sampler', 'trainer'] as const).map((process) => {
      const { byPhase, plannedBytes } = memory[process];
      const cells = PHASES.map(
        (phase) => `${shown(byPhase[phase].anonymousBytes)} + ${shown(byPhase[phase].fileBytes)}`,
      );
      return [...head(process), ...cells, ...plan(plannedBytes, most(memory[process]))];
    });
    const sums = PHASES.map((phase) => shown(together(memory, phase)));
    return [...processes, [...head('all'), ...sums, ...plan(plannedTogether(memory), mostTogether(memory))]];
  });
  const table = /^\| model +\| precision [^]*?\n(?=\n)/m.exec(text);
  expect(table, 'the table of memory is gone from the guide').not.toBeNull();
  await expect(text.replace(table![0], asTable(WORDS, [HEAD, ...rows]))).toMatchFileSnapshot(GUIDE);
});

test.each(measured)('the plan of $shape in $precision is within 15 % of the measured peak', ({ memory }) => {
  const { sampler, trainer } = memory;
  for (const process of [sampler, trainer])
    expect(Math.abs(process.plannedBytes / most(process) - 1)).toBeLessThan(0.15);
  expect(Math.abs(plannedTogether(memory) / mostTogether(memory) - 1)).toBeLessThan(0.15);
});

test('an idle server of Qwen3-0.6B takes at most 1.2 times its float32 weights, and a sampler in 8 bits 0.9 GB', () => {
  const { float32, w8a8 } = shapes['qwen3-0.6b']!;
  const weights = decoderParameters(SHAPES['qwen3-0.6b']!).reduce(
    (sum, { shape }) => sum + 4 * shape.reduce((a, b) => a * b, 1),
    0,
  );
  expect(together(float32!, 'idle')).toBeLessThan(1.2 * weights);
  expect(whole(w8a8!.sampler.byPhase.idle)).toBeLessThan(0.9e9);
});
