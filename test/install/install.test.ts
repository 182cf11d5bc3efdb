// The first hour of a user, with the output of `npm pack`: installing it with npm's own settings, starting it, stopping it,
// following the README, training from Python, loading the exports elsewhere, and removing it. Needs the package registries;
// Python clients need an interpreter that WHETSTONE_CLIENTS_PYTHON names, PEFT one that WHETSTONE_PYTHON names
// (scripts/python-env.sh).
import { once } from 'node:events';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { skipUnless, skipUnlessLong, skipWithoutPython } from '../support/skipping.ts';
import { announced, createEmptyMachine, type EmptyMachine, type Project } from './empty-machine.ts';
import { installPythonClient, type PythonClient } from './python-client.ts';
import { readBlocks } from '../support/install/readme-blocks.ts';
import { createReader, type Reader } from './run-blocks.ts';

const PATIENT = { timeout: 600_000 };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const clientsPython = process.env['WHETSTONE_CLIENTS_PYTHON'];
const peftPython = process.env['WHETSTONE_PYTHON'];
const FROM_PYTHON = { ...PATIENT, ...skipWithoutPython('WHETSTONE_CLIENTS_PYTHON') };
const IN_PEFT = { ...PATIENT, ...skipWithoutPython('WHETSTONE_PYTHON') };

let pythonClient: PythonClient;
beforeAll(async () => {
  if (clientsPython) pythonClient = await installPythonClient(clientsPython);
}, PATIENT.timeout);
afterAll(() => pythonClient?.remove());

/** Null: the version that runs this test. */
const NODES = process.platform === 'linux' && process.arch === 'x64' ? ([null, '24.21.0', '22.23.3'] as const) : [null];

describe.each(NODES)('on Node %s', (node) => {
  const options = node === '22.23.3' ? { ...PATIENT, ...skipUnlessLong() } : PATIENT;
  let machine: EmptyMachine;
  beforeAll(async () => {
    machine = await createEmptyMachine(node);
  }, PATIENT.timeout);
  afterAll(() => machine.remove());

  test('the package of npm pack installs without a warning, answers, and stops with its parent', options, async () => {
    const project = await machine.createProject('first');
    expect((await project.run('node', '--version')).stdout).toBe(`v${node ?? process.versions.node}\n`);
    const { stdout, stderr } = await project.run('npm', 'install', '--no-fund', '--no-audit', machine.tarball);
    expect(`${stdout}${stderr}`).not.toMatch(/warn|EBADENGINE|deprecated/i);

    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      const serving = project.start('npx', 'whetstone', 'serve', '--port', '0');
      const ended = once(serving, 'exit');
      const { url, key } = await announced(serving);
      if (key !== null) {
        const answer = await fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
          body: JSON.stringify({ messages: [{ role: 'user', content: 'What is 23 + 14?' }], temperature: 0 }),
        });
        expect(await answer.json()).toMatchObject({ choices: [{ message: { role: 'assistant' } }] });
        expect(answer.status).toBe(200);
      }
      serving.kill(signal);
      await ended;
      await project.serverEnded();
      await expect(fetch(url)).rejects.toThrow('fetch failed');
    }
  });

  const ONCE = { ...PATIENT, ...skipUnless(node === null, 'one version of Node is enough') };

  test('it is installed globally as well', ONCE, async () => {
    const project = await machine.createProject('elsewhere');
    await project.run('npm', 'install', '--global', machine.tarball);
    expect((await project.run('whetstone', '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    await project.run('npm', 'uninstall', '--global', 'whetstone');
    await expect(project.run('whetstone', '--version')).rejects.toThrow('ENOENT');
  });

  describe('a reader of the README', node === null ? {} : skipUnlessLong(), () => {
    let project: Project;
    let reader: Reader;
    beforeAll(async () => {
      project = await machine.createProject('readers');
      await copyFile(machine.tarball, join(project.directory, basename(machine.tarball)));
      reader = createReader(project, await freePort()); // guides.test.ts, which runs beside this file, follows it on its own port
    }, PATIENT.timeout);
    afterAll(() => reader.stop());

    const expectRising = (said: string, line: RegExp): void => {
      const rewards = [...said.matchAll(line)].map(([, reward]) => Number(reward));
      expect(rewards, said).toHaveLength(10);
      expect(rewards.at(-1)).toBeGreaterThan(rewards[0]! + 0.15);
    };

    test('runs every block unchanged, one after the other, and the reward rises', PATIENT, async () => {
      const [inClone, pack, ...blocks] = readBlocks(await readFile(join(ROOT, 'README.md'), 'utf8'));

      // The first two blocks are for a clone: .ci/run has the first (`npm test` is a part of `npm run test:all`), `machine` the second.
      const gate = await readFile(join(ROOT, '.ci', 'run'), 'utf8');
      const lines = inClone!.code.trim().split('\n');
      expect(lines.at(-1)).toBe('npm test');
      for (const line of [...lines.slice(0, -1), 'npm run test:all'])
        expect(gate).toMatch(new RegExp(`\\n(?:step|beside) '${line}' ${line}\\n`));
      expect(pack!.code.trim()).toBe('npm pack');

      const said = await reader.follow(blocks);
      expectRising(said, /^step \d+: (\S+) right$/gm);
      expect(said).toMatch(/^Snow is white\.$[^]*^white$/m);
      expect(await readdir(join(project.directory, 'colors-peft'))).toContain('adapter_model.safetensors');
    });

    test('trains from Python too, where the reward rises as well', FROM_PYTHON, async () => {
      await machine.addCommand('python', `exec '${pythonClient.python}' "$@"`);
      const loop = await pythonClient.loop('from-python');
      const said = await reader.follow([loop, { language: 'sh', code: 'python loop.py' }]);
      expectRising(said, /^step \d+: (\S+) right, 0 rollouts failed$/gm);
    });

    test('loads the exports in PEFT and Transformers', IN_PEFT, async () => {
      await machine.addCommand('python', `HF_HUB_OFFLINE=1 exec '${peftPython}' "$@"`);
      const said = await reader.follow(readBlocks(await readFile(join(ROOT, 'docs/guides/export.md'), 'utf8')));
      expect(said).toMatch(/^a parrot$[^]*^base: (?!a parrot$).+\nadapter: a parrot\nmerged: a parrot$/m);
    });

    test('removes it, and keeps only the user’s own files', PATIENT, async () => {
      await reader.stop();
      await project.run('npm', 'uninstall', '--no-fund', '--no-audit', 'whetstone');
      const at = (name: string) => join(project.directory, name);
      const left = await readdir(at('node_modules'), { recursive: true, withFileTypes: true }).catch(() => []);
      const files = left.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
      expect(files.filter((name) => name !== '.package-lock.json')).toEqual([]); // npm's own file
      expect(JSON.parse(await readFile(at('package.json'), 'utf8'))).toEqual({ name: 'readers', private: true });
      expect(await machine.filesNamed(/whetstone/i)).toEqual([]);
      expect(await readdir(at('.whetstone'))).toContain('whetstone.db');
    });
  });
});
