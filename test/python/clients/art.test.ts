// The unmodified ART library trains models here: python/clients/check_art*.py talk to a server started here. The oldest and the
// newest tested release have an environment each (scripts/python-env.sh clients and art), with an earlier and the newest wandb.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { writeTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { runPython } from '../../support/python-script.ts';
import { skipUnlessLong, skipWithoutPython } from '../../support/skipping.ts';
import { KEY, KEY_OF_40, MODEL, openStarterServer } from '../../support/clients/starter-server.ts';

/** ART, its environment, the wandb that it runs with, and options of its tests. */
const RELEASES = [
  ['0.5.18', 'WHETSTONE_CLIENTS_PYTHON', '0.28.0', skipUnlessLong()],
  ['0.5.23', 'WHETSTONE_ART_PYTHON', '0.31.0', {}],
] as const;

/** Of the environment itself; others lie beside it. */
const NEWEST_WANDB = '0.31.0';

const GUIDE = readFileSync(new URL('../../../docs/guides/train-by-rl.md', import.meta.url), 'utf8');

const script = (name: string) => fileURLToPath(new URL(`../../../python/clients/${name}`, import.meta.url));

describe.each(RELEASES)('ART %s', (release, variable, wandb, options) => {
  const python = process.env[variable];
  const packages = python && wandb !== NEWEST_WANDB ? join(dirname(dirname(python)), 'earlier') : '';

  /** The output of a script that sees the earlier packages, where they are asked for, before those of the environment. */
  async function run(...args: readonly string[]): Promise<string> {
    return (await runPython(python!, args, { env: { ...process.env, PYTHONPATH: packages } })).trim();
  }

  async function trains(runWith: typeof run): Promise<void> {
    const version = 'from importlib.metadata import version; print(version("openpipe-art"))';
    expect(await runWith('-c', version)).toBe(release);
    const server = await openStarterServer();
    try {
      const printed = await runWith(script('check_art.py'), server.baseUrl, KEY, MODEL);
      expect(printed.split('\n').at(-1)).toBe('ok');
    } finally {
      await server.close();
    }
  }

  test(
    'registers, rolls out, trains two steps, evaluates old and new ones, cleans up',
    { timeout: 600_000, ...skipWithoutPython(variable), ...options },
    () => trains(run),
  );

  test(
    'does so in an environment that the line of the guide has made',
    { timeout: 900_000, ...skipWithoutPython(variable), ...skipUnlessLong() },
    async () => {
      const own = await mkdtemp(join(tmpdir(), 'whetstone-art-'));
      try {
        await runPython(python!, ['-m', 'venv', own]);
        const line = GUIDE.split('\n').find((each) => each.startsWith(`pip install openpipe-art==${release} `))!;
        const path = `${join(own, 'bin')}:${process.env['PATH']}`;
        await promisify(execFile)('sh', ['-c', line], { env: { ...process.env, PATH: path }, maxBuffer: 64 * 2 ** 20 });
        await trains(async (...args) => (await runPython(join(own, 'bin', 'python'), args)).trim());
      } finally {
        await rm(own, { recursive: true, force: true });
      }
    },
  );

  test(
    `fine-tunes from a list, a generator and a file, logs, pulls, forks and deletes through wandb ${wandb}`,
    { timeout: 600_000, ...skipWithoutPython(variable), ...options },
    async () => {
      if (packages) expect(existsSync(packages), `${packages}: run scripts/python-env.sh again`).toBe(true);
      expect(await run('-c', 'import wandb; print(wandb.__version__)')).toBe(wandb);
      const server = await openStarterServer(KEY_OF_40);
      try {
        const root = server.baseUrl.replace(/\/v1$/, '');
        const printed = await run(script('check_art_wandb.py'), root, KEY_OF_40, MODEL);
        expect(printed.split('\n').at(-1)).toBe('ok');
      } finally {
        await server.close();
      }
    },
  );
});

describe('ART’s own recorder', () => {
  const variable = 'WHETSTONE_ART_PYTHON';
  const python = process.env[variable];

  const check = (name: string, ...more: readonly string[]) => checkWith(process.env, name, ...more);

  const checkWith = async (env: NodeJS.ProcessEnv, name: string, ...more: readonly string[]) => {
    const server = await openStarterServer();
    try {
      const args = [script(name), server.baseUrl, KEY, MODEL, ...more];
      const printed = (await runPython(python!, args, { env })).trim();
      expect(printed.split('\n').at(-1)).toBe('ok');
    } finally {
      await server.close();
    }
  };

  test(
    'is trained from its calls of chat, completions, Responses and Messages, with the sampled tokens',
    { timeout: 600_000, ...skipWithoutPython(variable) },
    () => check('check_art_recorded.py'),
  );

  test(
    'is trained from whole and streamed messages of Anthropic’s SDK, in a release that it records',
    { timeout: 600_000, ...skipWithoutPython(variable), ...skipUnlessLong() },
    async () => {
      const packages = join(dirname(dirname(python!)), 'earlier');
      const env = { ...process.env, PYTHONPATH: packages };
      const version = await runPython(python!, ['-c', 'import anthropic; print(anthropic.__version__)'], { env });
      expect(version.trim()).toBe('0.125.0');
      await checkWith(env, 'check_art_recorded.py');
    },
  );

  test(
    'feeds PipelineTrainer, whose rollouts and evaluations of pinned steps go on while a step trains',
    { timeout: 600_000, ...skipWithoutPython(variable) },
    async () => {
      const own = await mkdtemp(join(tmpdir(), 'whetstone-art-')); // ART keeps its state in the working directory
      try {
        await check('check_art_pipeline.py', own);
      } finally {
        await rm(own, { recursive: true, force: true });
      }
    },
  );

  test(
    'trains every token of long loops with 24 tools over three protocols, as a model of the server judges them (RULER)',
    { timeout: 600_000, ...skipWithoutPython(variable), ...skipUnlessLong() },
    async () => {
      const directory = await writeTinyChatModel({ max_position_embeddings: 16_384 });
      const server = await openStarterServer(KEY, { model: [MODEL, directory] });
      try {
        const args = [script('check_art_judged.py'), server.baseUrl, KEY, basename(directory), MODEL];
        expect((await runPython(python!, args, {})).trim().split('\n').at(-1)).toBe('ok');
      } finally {
        await server.close();
        await rm(directory, { recursive: true, force: true });
      }
    },
  );
});
