// The systemd unit: systemd accepts it, the server accepts its settings, and it waits as long as a stop may take.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { skipWithout } from '../../support/skipping.ts';
import { configOf, read, stopSeconds, type Variables } from '../../support/deploy/product.ts';

const UNIT = 'deploy/systemd/whetstone.service';
const ENVIRONMENT = 'deploy/systemd/whetstone.env';

const unit = await read(UNIT);
const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]));
const pairs = (text: string): Variables =>
  Object.fromEntries(
    text.split(/\s/).map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

test('systemd finds nothing wrong with it', skipWithout('SYSTEMD', hasSystemd), async () => {
  const directory = await mkdtemp(join(tmpdir(), 'whetstone-unit-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'whetstone.service');
  await writeFile(path, unit.replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true')); // systemd checks whether the program exists
  const { stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
  const said = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('whetstone.service')); // the others concern this machine
  expect(said).toEqual([]);
});

test('its command is a server’s, in the directories that systemd makes for it, and may stop in its own time', () => {
  const [, ...command] = settings.get('ExecStart')!.split(' ');
  const env = pairs(settings.get('Environment')!);
  const config = configOf(command, env);
  expect(config.dataDirectory).toBe(`/var/lib/${settings.get('StateDirectory')}`);
  expect(env['HF_HOME']).toBe(`/var/cache/${settings.get('CacheDirectory')}`);
  expect(config.listen.host).toBe('127.0.0.1');
  expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThan(stopSeconds(config));
  expect(settings.get('KillMode')).toBe('mixed');
});

test('the examples in its environment file are settings that the server takes together', async () => {
  const examples = [...(await read(ENVIRONMENT)).matchAll(/^#(\w+=\S+)$/gm)].map(([, example]) => example!);
  expect(examples.length).toBeGreaterThan(3);
  expect(configOf(['serve'], pairs(examples.join(' '))).roles).toEqual(['api', 'serve', 'train']);
});
