// Commands whose server stops while they run: each ends with exit code 1 and one line that says what is left and how to continue.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { CLI } from '../../support/cli-command.ts';

const CONTENT = '{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}\n'.repeat(10_000);
const SHA256 = createHash('sha256').update(CONTENT).digest('hex');

const MODEL = { id: 'm1', entity: 'e', project: 'p', name: 'm', base_model: 'whetstone/starter', run_id: null };
const ARTIFACT = {
  id: 'a1',
  ...{ entity: 'e', project: 'p', name: 'm', version: 'step1', uri: 'wandb-artifact:///e/p/m:step1', type: 'lora' },
  files: [{ path: 'adapter_model.safetensors', size_bytes: CONTENT.length, sha256: SHA256 }],
};

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'whetstone-lost-server-'));
  await writeFile(join(scratch, 'rows.jsonl'), CONTENT);
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

/** Answers what comes before a transfer, and stops in the middle of the transfer. */
async function openStoppingServer(onEnd: (close: () => void) => void): Promise<string> {
  function stop(response: ServerResponse): void {
    server.close();
    response.destroy();
    server.closeAllConnections();
  }
  function answer({ method, url }: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(url!.split('?')[0]!);
    const json = (value: unknown) => void response.end(JSON.stringify(value));
    if (path === '/v1/preview/models') return json({ data: [MODEL], has_more: false });
    if (path.endsWith('/checkpoints')) return json({ data: [], has_more: false });
    if (method === 'PUT' && path.includes(':draft')) return stop(response);
    if (method === 'PUT') return json({ missing: [SHA256] });
    if (/^\/v1\/artifacts\/[^/]+\/[^/]+\/[^/]+$/.test(path)) return json(ARTIFACT);
    response.writeHead(200, { 'content-length': CONTENT.length, etag: `"${SHA256}"` });
    response.write(CONTENT.slice(0, CONTENT.length / 2), () => stop(response));
  }
  const server = createServer(answer).listen(0, '127.0.0.1');
  onEnd(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function run(args: readonly string[], url: string) {
  const child = spawn(process.execPath, [CLI, ...args, '--url', url, '--key', 'k'], {
    cwd: scratch,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => (stdout += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, lines: stderr.trimEnd().split('\n') };
}

describe.concurrent('a server that stops during', () => {
  const again = 'Run the same command again';
  const kept = 'What has arrived is kept; an incomplete file ends in .part. Run the same command to continue there.';
  test.for([
    [
      'artifacts push p/rows rows.jsonl',
      `The server has no incomplete version. ${again}: it sends only what the server does not have yet.`,
      true,
      /^none$/,
    ],
    ['artifacts pull p/m pulled', kept, true, /^pulled\/adapter_model\.safetensors\.\w{12}\.part$/],
    ['checkpoints download p/m 1 --out m.tar', kept, true, /^m\.tar\.\w{12}\.part$/],
    ['checkpoints export p/m 1 --out exported', `Nothing was exported. ${again}.`, true, /^none$/],
    ['models metrics p/m --out board', `Nothing was written. ${again}.`, false, /^board\/p\/m$/],
    [
      'train rows.jsonl --model p/m',
      `No job was submitted. ${again}: it sends only what the server does not have yet.`,
      true,
      /^none$/,
    ],
  ] as const)('%s', { timeout: 120_000 }, async ([command, outcome, retries, left], { expect, onTestFinished }) => {
    const url = await openStoppingServer(onTestFinished);
    const { code, stdout, lines } = await run(command.split(' '), url);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const error = `error: the connection to the server at ${url} was lost. ${outcome}`;
    const retrying = expect.stringMatching(
      /^Connection to the server lost: .+[^.]\. Trying again up to 5 times\.$/,
    ) as string;
    expect(lines).toEqual(retries ? [retrying, error] : [error]);
    const named = /--out (\w+)|pull \S+ (\w+)/.exec(command)?.slice(1).find(Boolean) ?? 'none';
    const found = (await readdir(scratch, { recursive: true })).filter((path) => path.startsWith(named)).sort();
    expect(found.at(-1) ?? 'none').toMatch(left);
  });
});
