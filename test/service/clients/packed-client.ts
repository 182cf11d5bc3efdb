// @whetstone/client as a user installs it: the output of `npm pack` in packages/client, alone in a project.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { readBlocks } from '../../support/install/readme-blocks.ts';

const PACKAGE = fileURLToPath(new URL('../../../packages/client/', import.meta.url));
const run = promisify(execFile);

export interface PackedClient {
  readonly project: string;
  /** The package in the project's node_modules. */
  readonly installed: string;
  remove(): Promise<void>;
}

export async function installPackedClient(): Promise<PackedClient> {
  const project = await mkdtemp(join(tmpdir(), 'whetstone-client-'));
  const installed = join(project, 'node_modules', '@whetstone', 'client');
  await mkdir(installed, { recursive: true });
  await run('npm', ['pack', '--silent', '--pack-destination', project], { cwd: PACKAGE });
  const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz'))!;
  await run('tar', ['-xzf', join(project, tarball), '--strip-components=1', '-C', installed]);
  await writeFile(join(project, 'package.json'), '{"type": "module"}');
  return { project, installed, remove: () => rm(project, { recursive: true, force: true }) };
}

/** Runs the loop of the package's README unchanged, and expects the reward to rise. */
export async function runReadmeLoop(
  project: string,
  [program, ...args]: readonly [string, ...string[]],
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const [example] = readBlocks(await readFile(join(PACKAGE, 'README.md'), 'utf8'));
  expect(example!.code.split('\n').length).toBeLessThanOrEqual(40);
  await writeFile(join(project, 'loop.mjs'), example!.code);
  const { stdout } = await run(program, [...args, 'loop.mjs'], { cwd: project, env });
  const rewards = [...stdout.matchAll(/^step \d+: (\S+) right, 0 rollouts failed$/gm)].map(([, mean]) => Number(mean));
  expect(rewards, stdout).toHaveLength(10);
  expect(rewards.at(-1)).toBeGreaterThan(rewards[0]! + 0.15);
}
