// Every command of these pages runs unchanged in one directory, after the README; other pages say of every command why it
// is not run. Python programs need the interpreter that WHETSTONE_CLIENTS_PYTHON names (scripts/python-env.sh clients), those of
// guides/agent-sdks and guides/verifiers that of WHETSTONE_FRAMEWORKS_PYTHON.
import { existsSync } from 'node:fs';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, type TestOptions } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { skipWithout } from '../support/skipping.ts';
import { createEmptyMachine, type EmptyMachine } from './empty-machine.ts';
import { fileOf, isExhibit, readBlocks, type Block } from '../support/install/readme-blocks.ts';
import { createReader, type Reader } from './run-blocks.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PATIENT = 600_000;

const python = process.env['WHETSTONE_CLIENTS_PYTHON'];
const frameworks = process.env['WHETSTONE_FRAMEWORKS_PYTHON'];
const FRAMEWORKS_PAGES = ['guides/agent-sdks', 'guides/verifiers'];
const pythonFor = (page: string) => (FRAMEWORKS_PAGES.includes(page) ? frameworks : python);
if (!python)
  console.log(
    'Python in the guides is skipped: WHETSTONE_CLIENTS_PYTHON names no interpreter. Try $(scripts/python-env.sh clients).',
  );

const blocksOf = async (page: string): Promise<Block[]> => readBlocks(await readFile(join(ROOT, page), 'utf8'));
const isPython = ({ language, code }: Block): boolean =>
  language === 'python' || /^\S+=.* python |^python /m.test(code);
/** Of this checkout, in addition to the interpreter's: our client, and the environment of guides/verifiers. */
const PACKAGES = [join(ROOT, 'python', 'whetstone-client', 'src'), join(ROOT, 'python', 'frameworks')].join(':');

/** What `python` is on the machine. */
async function usePython(interpreter: string | undefined): Promise<void> {
  if (interpreter) await machine.addCommand('python', `PYTHONPATH='${PACKAGES}' exec '${interpreter}' "$@"`);
}

const AGENTS_PAGE = 'guides/command-line-agents';
const AGENTS = join(ROOT, 'test', 'support', 'agents', 'node_modules', '.bin');
const useAgents = () =>
  Promise.all(['claude', 'codex'].map((name) => machine.addCommand(name, `exec '${join(AGENTS, name)}' "$@"`)));

let machine: EmptyMachine;
let reader: Reader;
beforeAll(async () => {
  machine = await createEmptyMachine(null);
  await usePython(python);
  const project = await machine.createProject('guided');
  await copyFile(machine.tarball, join(project.directory, basename(machine.tarball)));
  reader = createReader(project, await freePort(8484));
  const [, , ...blocks] = await blocksOf('README.md');
  await reader.follow(blocks);
}, PATIENT);
afterAll(async () => {
  await reader.stop();
  await machine.remove();
});

const rewardsIn = (said: string, line: RegExp): number[] =>
  [...said.matchAll(line)].map(([, reward]) => Number(reward));

/** Output that the commands of a page must have printed, besides exiting with 0. In this order: the later ones stop and replace the server. */
const PAGES: readonly [string, (said: string) => void][] = [
  ['guides/clients', (said) => expect(said).toContain('"object":"response"')],
  [
    'guides/train-by-rl',
    (said) => {
      expect(said).toMatch(/^success {2}\d+ % [^]*^Yes: RL can learn from these tasks\.$/m);
      expect(said).toContain('training_ended');
      const heldOut = rewardsIn(said, /^held out at step \d+: (\S+) right$/gm);
      expect(Math.max(...heldOut), said).toBeGreaterThan(heldOut[0]!);
      expect(said).toContain(`the best is demo/stopped:step${1 + heldOut.indexOf(Math.max(...heldOut))}`);
      expect(rewardsIn(said, /^step \d: (\S+) right$/gm)).toHaveLength(python ? 3 : 0);
    },
  ],
  [
    'guides/sft-then-rl',
    (said) => {
      const rewards = rewardsIn(said, /^step \d: (\S+) right$/gm);
      expect(rewards).toHaveLength(10);
      expect(rewards.at(-1)).toBeGreaterThan(0.8);
    },
  ],
  [
    'guides/tools-and-turns',
    (said) => {
      const rewards = rewardsIn(said, /^step \d: reward (\S+), 0 rollouts failed$/gm);
      expect(rewards).toHaveLength(4);
      expect(rewards.at(-1)).toBeGreaterThan(rewards[0]! + 0.1);
    },
  ],
  [
    'guides/train-your-agent',
    (said) => {
      const rewards = rewardsIn(said, /^step \d: reward (\S+)$/gm);
      expect(rewards).toHaveLength(python ? 8 : 0);
      if (python) expect(Math.max(...rewards.slice(-3))).toBeGreaterThan(rewards[0]! + 0.1); // a step's mean is noisy
    },
  ],
  [
    'guides/agent-sdks',
    (said) => {
      const inPython = ['agent_openai', 'agent_anthropic', 'agent_openai_agents', 'agent_langgraph'];
      const all = [...(frameworks ? inPython : []), 'agent-openai', 'agent-anthropic', 'agent-ai-sdk'];
      for (const agent of all) {
        const rewards = rewardsIn(said, new RegExp(`^${agent}, step \\d: reward (\\S+)$`, 'gm'));
        expect(rewards, agent).toHaveLength(3);
        expect(rewards.at(-1), agent).toBeGreaterThan(rewards[0]! + 0.05);
      }
    },
  ],
  [
    'guides/verifiers',
    (said) => {
      const rewards = rewardsIn(said, /^step \d: reward (\S+)$/gm);
      expect(rewards).toHaveLength(frameworks ? 5 : 0);
      if (frameworks) expect(Math.max(...rewards.slice(-2))).toBeGreaterThan(rewards[0]! + 0.1);
    },
  ],
  ['guides/learning-rate', (said) => expect(rewardsIn(said, /^\S+ {2}step \d {2}(\S+) right$/gm)).toHaveLength(18)],
  ['guides/chat', (said) => expect(said).toMatch(/"content":"[^]*answer[^]*(?:yes|no)/)],
  ['guides/training', (said) => expect(said).toMatch(/^polite-peft\npolite-merged\npolite\.gguf$/m)],
  [
    'endpoints',
    (said) =>
      expect(said).toMatch(
        python ? /text_completion[^]*called get_weather, then completed[^]*assistant answered/ : /text_completion/,
      ),
  ],
  [
    'evaluation',
    (said) => {
      expect(said).toContain('evaluation: succeeded, 4 of 4 prompts answered, 4 samples each');
      const means = rewardsIn(said, /^mean reward (\S+)$/gm);
      expect(means).toEqual(Array.from({ length: python ? 2 : 1 }, () => means[0])); // the same rule in two languages
    },
  ],
  ['read-side', (said) => expect(said).toMatch(/^group 15 {2}rewards [^]*events\.out\.tfevents/m)],
  ['keys', (said) => expect(said).toMatch(/nightly rollouts {2}chat,train[^]*^revoked [^]*requests-in-flight 256/m)],
  [
    'webhooks',
    (said) => {
      expect(said).toContain(String.raw`\"type\":\"training_job.succeeded\"`);
      if (python) expect(said).toContain('verified: True');
    },
  ],
  [
    'guides/models',
    (said) =>
      expect(said).toMatch(
        /^a tiger$[^]*^tiger-merged\.gguf$[^]*^a tiger$[^]*^tiger-lora\.gguf$[^]*planned, of 8.00 GB: it fits/m,
      ),
  ],
  ['guides/upgrading', (said) => expect(said).toMatch(/Everything is there and undamaged[^]*Restored/)],
  [
    AGENTS_PAGE,
    (said) => {
      expect(said).toMatch(/^demo\/coder: step 1/m);
      const trained = [...said.matchAll(/^(\w+-[12]) .* trained /gm)].map(([, name]) => name);
      expect([...new Set(trained)].toSorted()).toEqual(['claude-1', 'claude-2', 'codex-1', 'codex-2']);
    },
  ],
  ['guides/gpus', (said) => expect(said).toMatch(/sample,train/)], // last: its server has another directory, whose key it exports
];

const optionsOf = (page: string): TestOptions =>
  page === AGENTS_PAGE ? skipWithout('AGENTS', existsSync(join(AGENTS, 'codex'))) : {};

for (const [name, expectSaid] of PAGES)
  test(`docs/${name}.md`, { timeout: PATIENT, ...optionsOf(name) }, async () => {
    const blocks = await blocksOf(`docs/${name}.md`);
    await usePython(pythonFor(name));
    if (name === AGENTS_PAGE) await useAgents();
    const said = await reader.follow(pythonFor(name) ? blocks : blocks.filter((block) => !isPython(block)));
    expectSaid(said);
  });

/** test/install/install.test.ts runs them. */
const RUN_ELSEWHERE = ['README.md', 'docs/guides/export.md'];

test('every block of every page is run, shows something, or says why it is not run', async () => {
  const runs = [...RUN_ELSEWHERE, ...PAGES.map(([name]) => `docs/${name}.md`)];
  const namesIn = async (folder: string) => (await readdir(join(ROOT, folder))).map((name) => `${folder}/${name}`);
  const all = [...(await namesIn('docs')), ...(await namesIn('docs/guides'))].filter((name) => name.endsWith('.md'));
  const silent: string[] = [];
  for (const page of ['README.md', ...all]) {
    const blocks = await blocksOf(page);
    const fences = (await readFile(join(ROOT, page), 'utf8')).match(/^ *```/gm)?.length ?? 0;
    if (fences !== 2 * blocks.length) silent.push(`${page}: a block without a language, or within a list`);
    const isRun = (block: Block) => runs.includes(page) && (block.language === 'sh' || fileOf(block) !== null);
    const unexplained = blocks.filter((block) => !isRun(block) && !isExhibit(block) && block.notRun === undefined);
    silent.push(...unexplained.map(({ code }) => `${page}: ${code.split('\n')[0]}`));
  }
  expect(silent).toEqual([]);
});
