// The Dockerfile: what it copies exists, what it starts is a server, and its health check recognises a healthy one. It is not
// built here: docs/guides/deploying.md says what was tried by hand instead.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DockerfileParser, type JSONInstruction } from 'dockerfile-ast';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { openTestServer } from '../../support/api/test-server.ts';
import { skipWithoutPython } from '../../support/skipping.ts';
import { lint } from './linters.ts';
import { configOf, read, ROOT } from '../../support/deploy/product.ts';

const file = DockerfileParser.parse(await read('Dockerfile'));
const last = file.getFROMs().at(-1)!.getRange().start.line;
const inLast = <T extends { getRange(): { start: { line: number } } | null }>(all: readonly T[]): T[] =>
  all.filter((each) => each.getRange()!.start.line > last);

const jsonOf = (instruction: JSONInstruction | undefined): string[] =>
  instruction!.getJSONStrings().map((each) => JSON.parse(each.getValue()) as string);

const env = Object.fromEntries(
  inLast(file.getENVs()).flatMap((each) => each.getProperties().map((one) => [one.getName(), one.getValue() ?? ''])),
);

test('hadolint has nothing to say of it', skipWithoutPython('WHETSTONE_DEPLOY_PYTHON'), () => {
  lint('hadolint', ['Dockerfile', 'deploy/kuberay/Dockerfile']);
});

test('its command is a server’s, on all addresses, with its data where the volume is, and its port is the one that is exposed', () => {
  const [program, script] = jsonOf(inLast(file.getENTRYPOINTs())[0]);
  expect([program, script]).toEqual(['node', '/opt/whetstone/dist/cli.js']);
  const config = configOf(jsonOf(inLast(file.getCMDs())[0]), env);
  const instructions = inLast(file.getInstructions());
  const argumentsOf = (keyword: string) =>
    instructions.find((each) => each.getKeyword() === keyword)?.getArgumentsContent();
  expect(argumentsOf('EXPOSE')).toBe(String(config.listen.port));
  expect(config.listen.host).toBe('0.0.0.0');
  expect(JSON.parse(argumentsOf('VOLUME')!)).toEqual([config.dataDirectory, env['HF_HOME']]);
  expect(argumentsOf('USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});

test('the files it copies exist, and are not ignored', async () => {
  const kept = (await read('.dockerignore'))
    .split('\n')
    .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
  expect(kept.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const copied = file.getCOPYs().flatMap((copy) => {
    const sources = copy.getArguments().slice(0, -1);
    const paths = sources.map((each) => each.getValue().replace('/build/', ''));
    return paths.filter((path) => !['.', 'node_modules', 'dist'].includes(path)); // npm makes the last two
  });
  expect(kept).toEqual(expect.arrayContaining(copied));
  const { files } = JSON.parse(await read('package.json')) as { files: string[] };
  for (const path of files)
    if (!path.startsWith('deploy/')) expect(await read('Dockerfile')).toContain(`/build/${path} `);
});

test('its health check passes while a server answers, and fails if there is none or it is unhealthy', async () => {
  const [, command] = /CMD (\[.*\])$/.exec(inLast(file.getHEALTHCHECKs())[0]!.getRawArgumentsContent()!)!;
  const [program, ...args] = JSON.parse(command!) as string[];
  expect(program).toBe('node');
  const check = (port: number) =>
    promisify(execFile)(process.execPath, args, { env: { WHETSTONE_PORT: String(port) } }).then(
      () => 'healthy',
      (error: { code: number }) => `ended with ${error.code}`,
    );
  const server = await openTestServer();
  onTestFinished(() => server.close());
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  expect(await check((server.app.server.address() as AddressInfo).port)).toBe('healthy');
  expect(await check(await freePort())).toBe('ended with 1');

  const ill = createServer((_, response) => response.writeHead(503).end()).listen(0, '127.0.0.1');
  onTestFinished(() => void ill.close());
  await new Promise((resolve) => ill.once('listening', resolve));
  expect(await check((ill.address() as AddressInfo).port)).toBe('ended with 1');
});
