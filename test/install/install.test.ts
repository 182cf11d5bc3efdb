// What somebody does in the first minute, with what `npm pack` makes: installs it with npm's own settings, starts it, asks it
// something, stops it, and removes it. Needs the package registry and nothing else beyond this machine.
import { once } from 'node:events';
import { copyFile, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../free-port.ts';
import { announced, createEmptyMachine, type EmptyMachine } from './empty-machine.ts';
import { readBlocks } from './readme-blocks.ts';
import { createReader } from './run-blocks.ts';

const PATIENT = { timeout: 600_000 };

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const README_PORT = 8484;

/** Null: the version that runs this. */
const OTHER_VERSIONS = process.platform === 'linux' && process.arch === 'x64' ? ['22.23.3', '24.21.0'] : [];

describe.each([null, ...OTHER_VERSIONS])('on Node %s', (node) => {
  let machine: EmptyMachine;
  beforeAll(async () => {
    machine = await createEmptyMachine(node);
  }, PATIENT.timeout);
  afterAll(() => machine.remove());

  test(
    'what npm pack makes is installed without a warning, answers, stops with its parent, and is removed',
    PATIENT,
    async () => {
      const project = await machine.createProject('somebodys');
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
        const lock = join(project.directory, '.whetstone', 'server.lock');
        await vi.waitFor(() => expect(readFile(lock)).rejects.toMatchObject({ code: 'ENOENT' }), PATIENT);
        await expect(fetch(url)).rejects.toThrow('fetch failed');
      }

      await project.run('npm', 'uninstall', '--no-fund', '--no-audit', 'whetstone');
      const left = await readdir(join(project.directory, 'node_modules')).catch(() => []);
      expect(left.filter((name) => !/^[.@]/.test(name))).toEqual([]);
      expect(await readdir(join(project.directory, '.whetstone'))).toContain('whetstone.db'); // data is the user's
    },
  );

  test.runIf(node === null)('it is installed globally as well', PATIENT, async () => {
    const project = await machine.createProject('elsewhere');
    await project.run('npm', 'install', '--global', machine.tarball);
    expect((await project.run('whetstone', '--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    await project.run('npm', 'uninstall', '--global', 'whetstone');
    await expect(project.run('whetstone', '--version')).rejects.toThrow('ENOENT');
  });

  test('every block of the README runs as it stands, one after the other, and its reward rises', PATIENT, async () => {
    const project = await machine.createProject('readers');
    await copyFile(machine.tarball, join(project.directory, basename(machine.tarball)));
    const [inClone, ...blocks] = readBlocks(await readFile(join(ROOT, 'README.md'), 'utf8'));

    // The first block is for a clone: the gate has run its first two lines, and `machine` its last.
    const gate = await readFile(join(ROOT, '.ci', 'run'), 'utf8');
    const [pack, ...before] = inClone!.code.trim().split('\n').reverse();
    expect(pack).toBe('npm pack');
    for (const line of before) expect(gate.split('\n')).toContain(line);

    const reader = createReader(project, await freePort(README_PORT));
    onTestFinished(() => reader.stop());
    const said = await reader.follow(blocks);
    const rewards = [...said.matchAll(/^step \d+: (\S+) right$/gm)].map(([, reward]) => Number(reward));
    expect(rewards).toHaveLength(10);
    expect(rewards.at(-1)).toBeGreaterThan(rewards[0]! + 0.15);
    expect(await readdir(join(project.directory, 'echo-peft'))).toContain('adapter_model.safetensors');
  });
});
