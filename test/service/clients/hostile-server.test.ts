// The TypeScript client and the command line against a hostile server: each attack ends the call with an error that says what is wrong,
// nothing is written outside of the directory, no key goes elsewhere, and no escape reaches the terminal.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { downloadCheckpointTo, pullArtifact } from '../../../src/client/artifact-files.ts';
import { createClient, type Client } from '../../../src/client/client.ts';
import { explain } from '../../../src/commands/explain.ts';
import { createProgram } from '../../../src/commands/program.ts';
import {
  ATTACKS,
  NAMES,
  naming,
  openHostileServer,
  VERBS,
  type Attack,
  type HostileServer,
  type Verb,
} from '../../support/clients/hostile-server.ts';

const KEY = 'wk-secret';
const ERRORS = ['ApiError', 'AnswerError', 'ArtifactFilesError', 'TimeoutError', 'TrainingFailedError'];
const QUICK = ATTACKS.filter(({ isSlow }) => !isSlow);

let server: HostileServer;
let scratch: string;
beforeAll(async () => void (server = await openHostileServer()));
afterAll(() => server.close());
beforeEach(async () => void (scratch = await mkdtemp(join(tmpdir(), 'whetstone-hostile-'))));
afterEach(() => rm(scratch, { recursive: true }));

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const filesIn = async (directory: string) =>
  (await readdir(directory, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());

const DO: Readonly<Record<Verb, (client: Client, more?: { signal?: AbortSignal }) => Promise<unknown>>> = {
  artifact: (client) => client.getArtifact('e/p/n:v0'),
  pull: (client, more) => pullArtifact(client, 'e/p/n:v0', join(scratch, 'a', 'b'), more),
  checkpoint: (client) => downloadCheckpointTo(client, 'm', 1, join(scratch, 'a', 'b.tar')),
  stream: (client) => all(client.chatStream({ messages: [{ role: 'user', content: 'Hi' }] })),
  list: (client) => all(client.listTrainingJobs()),
  follow: (client) => client.follow('j', { deadlineMs: 20_000 }),
};

const connect = (attack: Attack | null, limits = {}) =>
  createClient({ baseUrl: server.url(attack), apiKey: KEY, answerBytesMax: 1_000_000, ...limits });

describe('the TypeScript client', () => {
  test.each(VERBS)('calls %s of an honest server', async (verb) => {
    await DO[verb](connect(null));
  });

  test.each(ATTACKS.map((attack) => [attack.name, attack] as const))('ends %s with an error', async (_, attack) => {
    const client = connect(attack, attack.isSlow ? { timeoutMs: 500 } : {});
    const more = attack.isSlow ? { signal: AbortSignal.timeout(500) } : {};
    const error = await DO[attack.verb](client, more).then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error?.message).toMatch(attack.said);
    expect(error?.message.startsWith('fetch failed') ? 'ApiError' : error?.name).toBeOneOf(ERRORS);
    expect(attack.isSlow ? [] : await filesIn(scratch)).toEqual([]); // what dripped may continue
    expect(server.taken).toEqual([]);
  });

  test.each(['..', '.', ''])('the name %j is not sent as a part of a path', async (name) => {
    const client = connect(null);
    expect(() => client.getModel(name)).toThrow('cannot be');
    expect(() => client.getArtifact(`e/${name}/n`)).toThrow('cannot be');
  });
});

/** What the command writes on a terminal. */
async function runCommand(url: string, args: readonly string[]) {
  const { program, remote } = createProgram((error) => {
    throw error;
  });
  const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockReturnValue(true));
  const before = [process.stdout.isTTY, process.stderr.isTTY];
  process.stdout.isTTY = process.stderr.isTTY = true;
  const error: unknown = await program.parseAsync(['node', 'whetstone', ...args, '--url', url, '--key', KEY]).then(
    () => null,
    (reason: unknown) => reason,
  );
  const shown = spies.flatMap((spy) => spy.mock.calls.map(([chunk]) => String(chunk))).join('');
  [process.stdout.isTTY, process.stderr.isTTY] = before as [boolean, boolean];
  for (const spy of spies) spy.mockRestore();
  const said = error
    ? explain(error, { lastUrl: remote.lastUrl(), hasAnswered: remote.hasAnswered(), version: '0' })
    : '';
  return { shown: shown.replaceAll('\r\x1b[K', ''), said };
}

const argsOf = (verb: Verb): string[] => {
  const out = join(scratch, 'a', 'b.tar');
  return {
    artifact: ['artifacts', 'pull', 'e/p/n:v0', join(scratch, 'a')],
    pull: ['artifacts', 'pull', 'e/p/n:v0', join(scratch, 'a')],
    checkpoint: ['checkpoints', 'download', 'p/m', '1', '--out', out],
    stream: ['chat', 'Hi'],
    list: ['jobs', 'list'],
    follow: ['jobs', 'follow', 'j', '--timeout', '20'],
  }[verb];
};

const UNSEEN = /(?![\t\n])[\p{Cc}\p{Bidi_C}]/u;

describe('the command line', () => {
  test.each(VERBS)('calls %s of an honest server', async (verb) => {
    expect((await runCommand(server.url(null), argsOf(verb))).said).toBe('');
  });

  test.each(QUICK.map((attack) => [attack.name, attack] as const))('ends %s with an error', async (_, attack) => {
    const { shown, said } = await runCommand(server.url(attack), argsOf(attack.verb));
    expect(said).toMatch(/./);
    expect(said).not.toContain('bug in Whetstone');
    expect(shown).not.toMatch(UNSEEN);
    expect(await filesIn(scratch)).toEqual([]);
    expect(server.taken).toEqual([]);
  });

  test.each(Object.entries(NAMES))('downloads a checkpoint of the model %j into %s', async (name, file) => {
    const attack = naming(name);
    const named = await openHostileServer([attack]);
    const before = process.cwd();
    process.chdir(scratch);
    try {
      const { said, shown } = await runCommand(named.url(attack), ['checkpoints', 'download', 'p/m', '1']);
      expect(said).toBe('');
      expect(shown).toContain(`${file}\n`);
      expect((await filesIn(scratch)).map((entry) => entry.name)).toEqual([file]);
    } finally {
      process.chdir(before);
      named.close();
    }
  });
});
