// @whetstone/client on Bun and Deno: the loop of its README unchanged, and files pushed and pulled. Both runtimes come as
// packages of the registry (`npm install --prefix test/support/runtimes --ignore-scripts`); the tests are skipped if those cannot be
// installed.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { skipUnlessLong, skipWithout } from '../../support/skipping.ts';
import { installPackedClient, runReadmeLoop, type PackedClient } from './packed-client.ts';
import { KEY, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';

const PACKAGES = fileURLToPath(new URL('../../support/runtimes/node_modules/', import.meta.url));
const ARCH = process.arch === 'arm64' ? 'aarch64' : process.arch;
const LIBC = process.platform === 'linux' ? '-glibc' : '';
const RUNTIMES: readonly [string, string, readonly string[]][] = [
  ['Bun', `@oven/bun-${process.platform}-${ARCH}/bin/bun`, ['run']],
  [
    'Deno',
    `@deno/${process.platform}-${process.arch}${LIBC}/deno`,
    ['run', '--no-remote', '--allow-net', '--allow-env', '--allow-read=.', '--allow-write=.'],
  ],
];

describe.each(RUNTIMES)('on %s', (_, path, args) => {
  const binary = join(PACKAGES, path);
  const isHere = existsSync(binary);
  const options = { timeout: 300_000, ...skipWithout('RUNTIMES', isHere) };

  let client: PackedClient;
  let server: StarterServer;
  let env: Record<string, string | undefined>;
  beforeAll(async () => {
    if (!isHere) return;
    client = await installPackedClient();
    server = await openStarterServer();
    const kept = Object.entries(process.env).filter(([variable]) => variable !== 'NODE_OPTIONS');
    env = { ...Object.fromEntries(kept), WHETSTONE_URL: server.baseUrl, WHETSTONE_API_KEY: KEY, NO_COLOR: '1' };
  }, 300_000);
  afterAll(async () => {
    if (!isHere) return;
    await server.close();
    await client.remove();
  });

  test('the loop of its README runs, and the reward rises', { ...options, ...skipUnlessLong() }, async () => {
    await runReadmeLoop(client.project, [binary, ...args], env);
  });

  test('a directory is pushed and pulled', options, async () => {
    await writeFile(
      join(client.project, 'files.mjs'),
      `import { mkdir, writeFile } from 'node:fs/promises';
import { createClient } from '@whetstone/client';
import { pullArtifact, pushArtifact } from '@whetstone/client/files';
const client = createClient({ baseUrl: process.env.WHETSTONE_URL, apiKey: process.env.WHETSTONE_API_KEY });
await mkdir('data/below', { recursive: true });
await writeFile('data/below/rows.txt', 'one\\n'.repeat(500_000));
const { entity, project, name, version } = await pushArtifact(client, '~/demo/rows', 'data');
await pullArtifact(client, \`\${entity}/\${project}/\${name}:\${version}\`, 'pulled');
`,
    );
    await promisify(execFile)(binary, [...args, 'files.mjs'], { cwd: client.project, env });
    const [sent, pulled] = await Promise.all(
      ['data', 'pulled'].map((directory) => readFile(join(client.project, directory, 'below', 'rows.txt'))),
    );
    expect(pulled!.equals(sent!)).toBe(true);
  });
});
