// Every command of the guides runs as it stands, by somebody who has followed the README until its first program is written. Programs
// in Python need the interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients).
import { copyFile, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../free-port.ts';
import { createEmptyMachine, type EmptyMachine } from './empty-machine.ts';
import { readBlocks, type Block } from './readme-blocks.ts';
import { createReader, type Reader } from './run-blocks.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATIENT = 600_000;

const python = process.env['WHETSTONE_CLIENTS_PYTHON'];
if (!python)
  console.log(
    'Python in the guides is skipped: WHETSTONE_CLIENTS_PYTHON names no interpreter. Try $(scripts/python-env.sh clients).',
  );

const blocksOf = async (page: string): Promise<Block[]> => readBlocks(await readFile(join(ROOT, page), 'utf8'));
const isPython = ({ language, code }: Block): boolean =>
  language === 'python' || /^\S+=.* python |^python /m.test(code);

let machine: EmptyMachine;
let reader: Reader;
beforeAll(async () => {
  machine = await createEmptyMachine(null);
  if (python) await machine.addCommand('python', `exec '${python}' "$@"`);
  const project = await machine.createProject('guided');
  await copyFile(machine.tarball, join(project.directory, basename(machine.tarball)));
  reader = createReader(project, await freePort(8484));
  const [, ...blocks] = await blocksOf('README.md');
  await reader.follow(blocks.slice(0, 1 + blocks.findIndex(({ language }) => language === 'js')));
}, PATIENT);
afterAll(async () => {
  await reader.stop();
  await machine.remove();
});

const rewardsIn = (said: string, line: RegExp): number[] =>
  [...said.matchAll(line)].map(([, reward]) => Number(reward));

/** What a page's commands must have said, beside ending well. In this order: the later ones stop and replace the server. */
const GUIDES: readonly [string, (said: string) => void][] = [
  ['clients', (said) => expect(said).toContain('"object":"response"')],
  [
    'train-by-rl',
    (said) => {
      expect(said).toContain('training_ended');
      const heldOut = rewardsIn(said, /^held out at step \d+: (\S+) right$/gm);
      expect(Math.max(...heldOut), said).toBeGreaterThan(heldOut[0]!);
      expect(said).toContain(`the best is demo/stopped:step${1 + heldOut.indexOf(Math.max(...heldOut))}`);
      expect(rewardsIn(said, /^step \d: (\S+) right$/gm)).toHaveLength(python ? 3 : 0);
    },
  ],
  [
    'sft-then-rl',
    (said) => {
      const rewards = rewardsIn(said, /^step \d: (\S+) right$/gm);
      expect(rewards).toHaveLength(10);
      expect(rewards.at(-1)).toBeGreaterThan(0.8);
    },
  ],
  [
    'tools-and-turns',
    (said) => expect(rewardsIn(said, /^step \d: reward (\S+), 0 rollouts failed$/gm)).toHaveLength(3),
  ],
  ['learning-rate', (said) => expect(rewardsIn(said, /^\S+ {2}step \d {2}(\S+) right$/gm)).toHaveLength(18)],
  ['upgrading', (said) => expect(said).toMatch(/Everything is there and undamaged[^]*Restored/)],
  ['gpus', (said) => expect(said).toMatch(/sample,train/)],
];

test.each(GUIDES)('docs/guides/%s.md', { timeout: PATIENT }, async (name, expectSaid) => {
  const blocks = await blocksOf(`docs/guides/${name}.md`);
  const said = await reader.follow(python ? blocks : blocks.filter((block) => !isPython(block)));
  expectSaid(said);
});
