// Bodies of any permitted size and odd shape: whatever one client sends, the event loop is free again soon, so that health checks
// and other clients are answered. The test measures the CPU time of this thread between two turns of its event loop, so other
// processes on a busy machine do not count. It takes the minimum of several tries, because garbage collection and compilation do
// not repeat.
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '#base/log';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { createJobDataReader } from '#services/jobs/data/job-data-reader';
import { writeGroups } from '#services/jobs/data/stored-groups';
import type { Turn } from '#domain/trajectory';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { openSqliteStorage } from '#storage/sql/open-sqlite';
import { register } from '../../support/api/registered-model.ts';
import { asOwner, BASE, send as sendJson, shareTestServer, standingClock } from '../../support/api/test-server.ts';
import { CONTEXT_LENGTH, openTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { NO_LIMITS } from '../../support/golden/no-limits.ts';
import {
  BYTES_MAX,
  hostileManifests,
  hostileSftShapes,
  hostileShapes,
  hostileTrainingShapes,
} from '../../support/security/hostile-bodies.ts';

/** The goal is 100 ms on a quiet machine; why it is not the bound: docs/decisions/0016-large-bodies-do-not-block-the-event-loop.md. */
const TURN_MS_MAX = 600;
const TRIES = 6;
/** That record has the figure of each shape. */
const TURNS_FILE = process.env['WHETSTONE_TURNS_FILE'];
/** Just below the limit in job-data-reader.ts. */
const SHORT_BYTES = 32_768;
const READ_HERE_BYTES = 32_000;
const VOCAB_SIZE = 488;
const RUNS = 40;
const SHAPES = hostileShapes(BASE);

/** As in a server, rows are written on its thread. */
const directory = await mkdtemp(join(tmpdir(), 'whetstone-blinding-'));
const storage = await openSqliteStorage({ path: join(directory, 'whetstone.db'), log: silentLog });
const model = await openTinyChatModel(BASE);
const server = await shareTestServer({
  limits: { bodyBytesMax: 16_000_000, trainingBodyBytesMax: 16_000_000 },
  given: { storage, blobs: createMemoryBlobs(), model, clock: standingClock(Date.UTC(2026, 5, 1)) },
});
beforeAll(() => async () => {
  await storage.close();
  await model.close();
  await rm(directory, { recursive: true, force: true });
});

/** CPU time of the calling thread in ns: the first number of Linux's schedstat. Elsewhere wall time. */
const computedMs = () =>
  process.platform === 'linux'
    ? Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
    : performance.now();

async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let [longest, isDone] = [0, false];
  const watch = async () => {
    while (!isDone) {
      const start = computedMs();
      await new Promise((resolve) => setImmediate(resolve));
      longest = Math.max(longest, computedMs() - start);
    }
  };
  const watching = watch();
  await work();
  isDone = true;
  await watching;
  return longest;
}

async function leastTurnMs(work: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < TRIES && (least > TURN_MS_MAX || TURNS_FILE); i++)
    least = Math.min(least, await longestTurnMs(work));
  if (TURNS_FILE) appendFileSync(TURNS_FILE, `${Math.round(least)} ms: ${expect.getState().currentTestName}\n`);
  return least;
}

/** Sends it, and removes a job that it made from the queue. */
async function send(payload: string, url = '/v1/chat/completions', method: 'POST' | 'PUT' = 'POST'): Promise<void> {
  const headers = { ...asOwner, 'content-type': 'application/json' };
  const response = await server.app.inject({ method, url, headers, payload });
  expect(response.statusCode, response.body.slice(0, 300)).toBeLessThan(500);
  if (url !== JOBS || response.statusCode !== 200) return;
  await sendJson(server, { method: 'POST', url: `${JOBS}/${response.json<{ id: string }>().id}/cancel` });
}

const JOBS = '/v1/preview/training-jobs';
const ARTIFACT = '/v1/artifacts/default/p/files';
const pupil = await register(server, 'pupil');
await sendJson(server, { method: 'PUT', url: `${ARTIFACT}:draft/a`, body: '{}' });
const stored = createHash('sha256').update('{}').digest('hex');

/** Logged trajectories are parsed like training data, and averaged in addition. */
describe.each([
  ['chats', SHAPES, '/v1/chat/completions', 'POST'],
  ['jobs', hostileTrainingShapes(pupil), JOBS, 'POST'],
  ['logs', hostileTrainingShapes(pupil), `/v1/preview/models/${pupil}/log`, 'POST'],
  ['jobs that imitate', hostileSftShapes(pupil), '/v1/preview/sft-training-jobs', 'POST'],
  ['jobs that prefer', hostileSftShapes(pupil), '/v1/preview/dpo-training-jobs', 'POST'],
  ['manifests', hostileManifests(stored), ARTIFACT, 'PUT'],
] as const)('%s, as large as permitted', (_, shapes, url, method) => {
  test.each(Object.entries(shapes))(
    '%s',
    async (_shape, make) => {
      const body = make(BYTES_MAX);
      expect(await leastTurnMs(() => send(body, url, method))).toBeLessThan(TURN_MS_MAX);
    },
    120_000,
  );
});

test('any shape of any size', async () => {
  const size = fc.double({ min: Math.log(1_000), max: Math.log(BYTES_MAX), noNaN: true }).map((log) => Math.exp(log));
  const requests = fc.asyncProperty(fc.constantFrom(...Object.keys(SHAPES)), size, async (shape, bytes) => {
    const body = SHAPES[shape]!(bytes);
    expect(await leastTurnMs(() => send(body))).toBeLessThan(TURN_MS_MAX);
  });
  await fc.assert(requests, { numRuns: RUNS, endOnFailure: true });
}, 300_000);

/** Jobs of up to 32 kB are read in the server's own process; larger ones in another. */
describe('a job that is read here', () => {
  const { id, text } = server.model;
  const encoder = createConversationEncoder(id, text, VOCAB_SIZE);
  const read = createJobDataReader(encoder, null);
  const budget = {
    ...NO_LIMITS,
    contextLength: CONTEXT_LENGTH,
    rowLengthMax: CONTEXT_LENGTH,
    sharing: 'shared',
  } as const;

  const asked = { kind: 'message', message: { role: 'user', content: 'a' } } as const;
  const said = { kind: 'message', message: { role: 'assistant', content: 'b' } } as const;
  const sampled = {
    ...said,
    kind: 'sampled',
    finishReason: 'stop',
    logprobs: null,
    tokens: [5],
    promptTokenIds: null,
  } as const;

  test.each([
    ['said', [asked, said]],
    ['sampled, behind prompts that nobody knows', [asked, sampled]],
    ['sampled, one behind the other', [sampled]],
  ])('as many turns as fit, %s', async (_, pattern: readonly Turn[]) => {
    const turnBytes = JSON.stringify(pattern).length - 1;
    // A conversation begins with a question: templates refuse to render an empty one.
    const turns = [asked, ...Array.from({ length: Math.floor(READ_HERE_BYTES / turnBytes) }, () => pattern).flat()];
    const trajectories = [1, 0].map((reward, i) => ({
      histories: [{ turns: i === 0 ? turns : [asked, sampled], tools: null }],
      reward,
      metrics: {},
    }));
    const pieces: Uint8Array[] = [];
    const put = async (_name: string, content: Uint8Array | AsyncIterable<Uint8Array>) => {
      for await (const piece of content as AsyncIterable<Uint8Array>) pieces.push(piece);
      return { sizeBytes: 0 };
    };
    const head = { allowTrainingWithoutLogprobs: true };
    await writeGroups({ put }, 'job', head, [{ trajectories, exceptionCount: 0, metrics: {} }]);
    const blob = Buffer.concat(pieces);
    expect(blob.length).toBeLessThan(SHORT_BYTES);
    const rows: unknown[] = [];
    const work = async () => {
      async function* content() {
        yield blob;
      }
      const put = async (members: unknown) => void rows.push(members);
      const { plan } = await read(
        'rl',
        { blob: 'job', budget, hiddenSize: null, exactLogprobs: true },
        content(),
        put,
        new AbortController().signal,
      );
      expect(plan.skipped).toEqual({ truncated: 1 });
    };
    expect(await leastTurnMs(work)).toBeLessThan(TURN_MS_MAX);
    expect(rows.length).toBeGreaterThan(0);
  });
});
