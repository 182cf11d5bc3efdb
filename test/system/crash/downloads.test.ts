// A download during which the server is killed: it resumes, in the same process and in a later one, and ends with the bytes of an
// undisturbed one. An upload is sent again.
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { downloadCheckpointTo, pullArtifact, pushArtifact } from '#client/artifact-files';
import { createClient, type Client } from '#client/client';
import { createServerProcess, type ServerProcess } from '../../support/crash/server-process.ts';

const FIRST_BYTES = 1_000_000;

let directory: string;
let server: ServerProcess;
let modelId: string;
/** The Range headers of the requests, and the answers. */
let answers: [string | null, number][];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-downloads-'));
  server = await createServerProcess(join(directory, 'data'));
  await server.start();
  // An adapter of rank 256 is much larger than the buffers of a connection.
  const model = { project: 'p', name: 'wide', base_model: 'whetstone/starter', lora: { r: 256 } };
  modelId = (await server.client.registerModel(model)).id;
}, 120_000);
beforeEach(() => {
  answers = [];
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Passes bytes on, and calls `onFirst` once when so many have passed. */
function afterFirstBytes(onFirst: () => Promise<void>): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let isCalled = false;
  return new TransformStream({
    async transform(chunk, controller) {
      bytes += chunk.length;
      controller.enqueue(chunk);
      if (bytes < FIRST_BYTES || isCalled) return;
      isCalled = true;
      await onFirst();
    },
  });
}

/** A client that reads so much of the first large answer, and then calls `onFirst` before it continues. */
function interrupted(onFirst: () => Promise<void>): Client {
  let isFirst = true;
  async function watched(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    const response = await fetch(input, init);
    if (response.headers.get('accept-ranges') !== 'bytes') return response;
    answers.push([new Headers(init?.headers).get('range'), response.status]);
    if (!isFirst || Number(response.headers.get('content-length')) < 2 * FIRST_BYTES) return response;
    isFirst = false;
    return new Response(response.body!.pipeThrough(afterFirstBytes(onFirst)), response);
  }
  return createClient({ baseUrl: server.url, apiKey: server.apiKey, fetch: watched });
}

const restart = async (): Promise<void> => {
  await server.kill('server');
  await server.start();
};

const digestOf = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');

describe('the tar of a checkpoint', () => {
  test('continues after the bytes that had arrived', { timeout: 120_000 }, async () => {
    const [whole, resumed] = [join(directory, 'whole.tar'), join(directory, 'resumed.tar')];
    await downloadCheckpointTo(server.client, modelId, 'latest', whole);
    expect((await stat(whole)).size).toBeGreaterThan(10 * FIRST_BYTES);
    await downloadCheckpointTo(interrupted(restart), modelId, 'latest', resumed);
    expect(await digestOf(resumed)).toBe(await digestOf(whole));
    expect(answers).toEqual([
      [null, 200],
      [expect.stringMatching(/^bytes=[1-9]\d+-$/), 206],
    ]);
    expect((await readdir(directory)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  test('continues in another process', { timeout: 120_000 }, async () => {
    const [whole, later] = [join(directory, 'all.tar'), join(directory, 'later.tar')];
    await downloadCheckpointTo(server.client, modelId, 0, whole);
    // A process that ends midway leaves the same files as one whose request for the rest is refused.
    const given = interrupted(() => Promise.reject(new Error('the line broke')));
    let isAsked = false;
    const once: Client = {
      ...given,
      downloadCheckpoint: (...args) => {
        if (isAsked) return Promise.reject(Object.assign(new Error('refused'), { status: 403 }));
        isAsked = true;
        return given.downloadCheckpoint(...args);
      },
    };
    await expect(downloadCheckpointTo(once, modelId, 0, later)).rejects.toThrow('refused');
    const [part] = (await readdir(directory)).filter((name) => name.endsWith('.part'));
    const { size } = await stat(join(directory, part!));
    expect(size).toBeGreaterThan(0);
    answers = [];
    await restart();
    await downloadCheckpointTo(
      interrupted(() => Promise.resolve()),
      modelId,
      0,
      later,
    );
    expect(answers.at(-1)).toEqual([`bytes=${size}-`, 206]);
    expect(await digestOf(later)).toBe(await digestOf(whole));
  });
});

test('a pull of its files resumes after the bytes that had arrived', { timeout: 120_000 }, async () => {
  const name = 'default/p/wide:step0';
  await pullArtifact(server.client, name, join(directory, 'whole'));
  await pullArtifact(interrupted(restart), name, join(directory, 'pulled'));
  const file = 'adapter_model.safetensors';
  expect(await digestOf(join(directory, 'pulled', file))).toBe(await digestOf(join(directory, 'whole', file)));
  expect(answers.at(-1)).toEqual([expect.stringMatching(/^bytes=[1-9]\d+-$/), 206]);
});

test('a push sends a file again that was on its way when the server was killed', { timeout: 120_000 }, async () => {
  const source = join(directory, 'rows.bin');
  await writeFile(source, randomBytes(20 * FIRST_BYTES));
  let isFirst = true;
  async function killing(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
    if (!isFirst || !(init?.body instanceof ReadableStream)) return fetch(input, init);
    isFirst = false;
    return fetch(input, { ...init, body: init.body.pipeThrough(afterFirstBytes(restart)) });
  }
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey, fetch: killing });
  const connection: unknown[] = [];
  const sent: number[] = [];
  await pushArtifact(client, '~/p/rows', source, {
    onConnection: (lost) => connection.push(lost),
    onBytes: (doing, done) => doing === 'sending' && sent.push(done),
  });
  expect([connection[0], connection.at(-1)]).toEqual([expect.any(TypeError), null]);
  expect(sent.at(-1)).toBe(20 * FIRST_BYTES);
  await pullArtifact(server.client, '~/p/rows', join(directory, 'rows'));
  expect(await digestOf(join(directory, 'rows', 'rows.bin'))).toBe(await digestOf(source));
});
