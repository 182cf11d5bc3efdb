// Pushing and pulling directories: what is sent, what is left alone, and what neither side may be talked into.
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pullArtifact, pushArtifact } from '#client/artifact-files';
import { createClient, type Artifact, type Client } from '#client/client';
import { asOwner, openTestServer, type TestServer } from './test-server.ts';

let server: TestServer;
let client: Client;
let scratch: string;
beforeAll(async () => {
  server = await openTestServer();
  await server.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = server.app.server.address() as AddressInfo;
  client = createClient({ baseUrl: `http://127.0.0.1:${port}`, apiKey: asOwner.authorization.slice(7) });
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-files-'));
});
afterAll(async () => {
  await server.close();
  await rm(scratch, { recursive: true });
});

async function directory(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const path = join(scratch, name);
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(path, file, '..'), { recursive: true });
    await writeFile(join(path, file), content);
  }
  return path;
}

function recorder() {
  const told: string[] = [];
  return { told, onFile: (path: string, state: string) => void told.push(`${state} ${path}`) };
}

test('a directory goes up and comes down; what is there is not moved again', async () => {
  const source = await directory('source', { 'a.txt': 'A', 'deep/er/b.txt': 'B', 'empty.txt': '' });
  const first = recorder();
  const pushed = await pushArtifact(client, '~/p/dir', source, { aliases: ['best'], metadata: { rows: 1 }, ...first });
  expect(pushed).toMatchObject({ version: 'v0', aliases: ['best'], metadata: { rows: 1 } });
  expect(first.told).toEqual(['sent a.txt', 'sent deep/er/b.txt', 'sent empty.txt']);
  await writeFile(join(source, 'a.txt'), 'changed');
  const second = recorder();
  expect(await pushArtifact(client, '~/p/dir', source, second)).toMatchObject({ version: 'v1' });
  expect(second.told).toEqual(['sent a.txt', 'there deep/er/b.txt', 'there empty.txt']);

  const target = join(scratch, 'target');
  await pullArtifact(client, '~/p/dir:best', target);
  expect(await readFile(join(target, 'a.txt'), 'utf8')).toBe('A');
  const third = recorder();
  await pullArtifact(client, '~/p/dir', target, third.onFile);
  expect(third.told).toEqual(['fetched a.txt', 'there deep/er/b.txt', 'there empty.txt']);
  expect(await readdir(target)).toEqual(['a.txt', 'deep', 'empty.txt']); // no .part is left
});

test('symbolic links are neither followed nor written through', async () => {
  const source = await directory('linked', { 'a.txt': 'A' });
  await symlink('/etc/passwd', join(source, 'b.txt'));
  await expect(pushArtifact(client, '~/p/linked', source)).rejects.toThrow('symbolic link');
  await rm(join(source, 'b.txt'));
  await pushArtifact(client, '~/p/linked', source);
  const outside = await directory('outside', { 'a.txt': 'mine' });
  const target = await directory('inside', {});
  await mkdir(target);
  await symlink(join(outside, 'a.txt'), join(target, 'a.txt'));
  await expect(pullArtifact(client, '~/p/linked', target)).rejects.toThrow('symbolic link');
  expect(await readFile(join(outside, 'a.txt'), 'utf8')).toBe('mine');
});

test.each(['../up.txt', '/etc/cron', 'a/../../b', 'C:/x', 'a\\..\\..\\b'])(
  'a server that says %j is not obeyed',
  async (path) => {
    const files = [{ path, size_bytes: 1, sha256: 'x' }];
    const artifact = { entity: 'e', project: 'p', name: 'n', version: 'v0', files } as unknown as Artifact;
    const evil = { ...client, getArtifact: async () => artifact };
    await expect(pullArtifact(evil, 'e/p/n', join(scratch, 'evil'))).rejects.toThrow('outside of the directory');
  },
);

test('bytes that arrive damaged are not kept', async () => {
  const source = await directory('whole', { 'a.txt': 'whole' });
  await pushArtifact(client, '~/p/whole', source);
  const liar = { ...client, downloadArtifactFile: async () => new Response('other').body! };
  const target = join(scratch, 'damaged');
  await expect(pullArtifact(liar, '~/p/whole', target)).rejects.toThrow('arrived damaged');
  expect(await readdir(target)).toEqual([]);
});
