// Training data over HTTP as a job would train on it: rows with their tokens.
import { expect, test } from 'vitest';
import { send, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer();

interface Row {
  readonly id: string;
  readonly line: number;
  readonly messages: readonly { readonly role: string; readonly content: string }[] | null;
  readonly problem: string | null;
  readonly beginning: string | null;
  readonly sequences: readonly { token_ids: number[]; texts: string[]; trained: boolean[] }[] | null;
}

interface Rows {
  readonly data: readonly Row[];
  readonly has_more: boolean;
}

const conversation = (...said: readonly string[]) => ({
  messages: said.map((content, i) => ({ role: i % 2 === 0 ? 'user' : 'assistant', content })),
});

async function upload(name: string, lines: readonly unknown[]): Promise<string> {
  const body = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const url = `/v1/artifacts/default/demo/${name}/train.jsonl`;
  const response = await send(server, { method: 'PUT', url, body });
  expect(response.statusCode, response.body).toBe(201);
  return `/v1/preview/artifacts/~/demo/${name}/rows`;
}

async function read(url: string): Promise<Rows> {
  const response = await send(server, { url });
  expect(response.statusCode, response.body).toBe(200);
  return response.json<Rows>();
}

/** The tokens of a row that count in the loss. */
const trainedText = ({ sequences }: Row): string[] =>
  sequences!.map(({ texts, trained }) => texts.filter((_, i) => trained[i]).join(''));

test('rows come with their tokens, of which the assistant’s are trained', async () => {
  const url = await upload('greetings', [conversation('Hi', 'Grüße 🎈!', 'Bye', 'So long.')]);
  const [row] = (await read(url)).data as [Row];
  expect(row).toMatchObject({ id: '1', line: 1, problem: null, beginning: null });
  expect(row.messages!.map(({ content }) => content)).toEqual(['Hi', 'Grüße 🎈!', 'Bye', 'So long.']);
  const all = row.sequences!.map(({ texts }) => texts.join('')).join('');
  expect(all).toContain('Grüße 🎈!');
  expect(all).not.toContain('\ufffd');
  const trained = trainedText(row).join('|');
  expect(trained).toContain('Grüße 🎈!');
  expect(trained).toContain('So long.');
  expect(trained).not.toContain('Bye');
  for (const { token_ids, texts, trained } of row.sequences!)
    expect([texts.length, trained.length]).toEqual([token_ids.length, token_ids.length]);
  const [last] = (await read(`${url}?assistant_turns=last`)).data as [Row];
  expect(trainedText(last).join('|')).toContain('So long.');
  expect(trainedText(last).join('|')).not.toContain('Grüße');
});

test('a preference pair has both answers, each with its tokens after the prompt', async () => {
  const said = (role: string, content: string) => [{ role, content }];
  const pair = (chosen: string, rejected: string) => ({
    prompt: said('user', 'Hi'),
    chosen: said('assistant', chosen),
    rejected: said('assistant', rejected),
  });
  const url = await upload('pairs', [
    pair('Hello.', 'Go away.'),
    { ...pair('x', 'y'), chosen: said('user', 'x') },
    conversation('Hi', 'Hello.'),
  ]);
  const { data } = await read(url);
  expect(data[0]).toMatchObject({
    messages: said('user', 'Hi'),
    chosen: said('assistant', 'Hello.'),
    rejected: said('assistant', 'Go away.'),
    problem: null,
  });
  const trained = trainedText(data[0]!);
  expect(trained).toEqual([expect.stringContaining('Hello.'), expect.stringContaining('Go away.')]);
  expect(trained.join('')).not.toContain('Hi');
  expect(data[0]!.sequences!.every(({ texts }) => texts.join('').includes('Hi'))).toBe(true);
  expect(data[1]).toMatchObject({
    chosen: null,
    problem: expect.stringContaining('chosen begins with a message of the role user') as string,
  });
  expect(data[2]).toMatchObject({ chosen: null, rejected: null, problem: null });
});

test('lines that a job would refuse show the reason and how they begin', async () => {
  const url = await upload('faults', [
    'no json',
    '',
    { messages: [{ role: 'user', content: '<b>' }] },
    conversation('a', 'b'),
  ]);
  const { data } = await read(url);
  expect(data.map(({ line }) => line)).toEqual([1, 3, 4]);
  expect(data[0]).toMatchObject({ messages: null, beginning: 'no json', sequences: null });
  expect(data[0]!.problem).toContain('is not JSON');
  expect(data[1]!.problem).toContain('the last message must have the role assistant');
  expect(data[2]!.problem).toBeNull();
});

test('pages have each row once; long rows are shown without tokens', async () => {
  const url = await upload('many', [
    ...Array.from({ length: 5 }, (_, i) => conversation(`${i}`, 'ok')),
    conversation('long', 'x'.repeat(100_000)),
  ]);
  const first = await read(`${url}?limit=4`);
  expect(first.has_more).toBe(true);
  const second = await read(`${url}?limit=4&after=${first.data.at(-1)!.id}`);
  expect(second.has_more).toBe(false);
  expect([...first.data, ...second.data].map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(second.data.at(-1)).toMatchObject({ problem: null, sequences: null });
});

test.each([
  ['rows?after=9', 400],
  ['rows?after=x', 400],
  ['rows?path=other.jsonl', 404],
  ['rows?base_model=other', 404],
  ['rows?assistant_turns=first', 422],
  ['rows?limit=101', 422],
])('%s is refused', async (query, status) => {
  const url = await upload('refused', [conversation('a', 'b')]).catch(
    () => '/v1/preview/artifacts/~/demo/refused/rows',
  );
  const response = await send(server, { url: url.replace(/rows$/, query) });
  expect(response.statusCode, response.body).toBe(status);
});
