// What operators read: enough to follow a request and a job, and nothing that a user wrote, received, or must keep secret.
import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { BASE, BOOTSTRAP_KEY, chat, shareTestServer, send } from '../../support/api/test-server.ts';
import { createRecordingLog } from '../../support/serving/recording-log.ts';

const log = createRecordingLog();
const server = await shareTestServer({ log, parsers: { tools: 'pythonic', reasoning: null } });

const WORDS = 'the heron landed at seventeen minutes past nine';

test('a request and a job can be followed by their ids, and no line contains a prompt, an answer or a key', async () => {
  const answer = await send(server, {
    url: '/v1/chat/completions',
    headers: { 'x-request-id': 'follow-me' },
    body: chat({ messages: [{ role: 'user', content: WORDS }], user: WORDS, metadata: { note: WORDS } }),
  });
  const { choices } = answer.json<{ choices: { message: { content: string } }[] }>();
  await send(server, { url: '/v1/chat/completions', body: chat({ messages: [{ role: WORDS }] }) });
  await send(server, { url: '/v1/chat/completions', body: chat({ structured_outputs: { regex: `((${WORDS}` } }) });
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: `{"at": ${WORDS}` } };
  const called = [
    { role: 'user', content: 'x' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c', content: 'x' },
  ];
  const unread = await send(server, { url: '/v1/chat/completions', body: chat({ messages: called }) });
  expect(unread.statusCode, unread.body).toBe(200);
  // Python's calls cannot write the name; the error behind the refusal has it in its message.
  const parameters = { type: 'object', properties: { [WORDS]: { type: 'string' } }, required: [WORDS] };
  const refused = await send(server, {
    url: '/v1/chat/completions',
    headers: { 'x-request-id': 'refused' },
    body: chat({ tools: [{ type: 'function', function: { name: 'f', parameters } }], tool_choice: 'required' }),
  });
  expect(refused.statusCode, refused.body).toBe(422);
  expect(refused.body).toContain(WORDS);
  await send(server, { url: '/v1/models', headers: { authorization: `Bearer wk-wrong-${WORDS.slice(4, 9)}` } });
  const model = { project: 'p', name: 'm', base_model: BASE };
  const { id: model_id } = (await send(server, { url: '/v1/preview/models', body: model })).json<{ id: string }>();
  const trajectory = { messages_and_choices: [{ role: 'user', content: WORDS }], reward: 1 };
  const job = { model_id, trajectory_groups: [{ trajectories: [trajectory, { ...trajectory, reward: 0 }] }] };
  const submitted = await send(server, { url: '/v1/preview/training-jobs', body: job });
  expect(submitted.statusCode, submitted.body).toBe(200);
  const made = await send(server, { url: '/v1/keys', body: { name: 'n' } });
  const { secret } = made.json<{ secret: string }>();

  const text = JSON.stringify(log.lines, (_, value: unknown) =>
    value instanceof Error ? `${value.stack} ${JSON.stringify(value)}` : value,
  );
  expect(text).not.toContain(WORDS);
  expect(text).not.toContain('wk-wrong');
  expect(text).not.toContain(BOOTSTRAP_KEY);
  expect(text).not.toContain(secret);
  expect(choices[0]!.message.content.length).toBeGreaterThan(0);
  expect(text).not.toContain(JSON.stringify(choices[0]!.message.content).slice(1, -1));
  expect(log.lines).toContainEqual(
    expect.objectContaining({
      event: 'request.finished',
      fields: expect.objectContaining({ requestId: 'follow-me', route: '/v1/chat/completions', status: 200 }) as object,
    }),
  );
  expect(log.lines).toContainEqual(
    expect.objectContaining({
      event: 'request.refused',
      fields: expect.objectContaining({ requestId: 'refused', status: 422, code: 'invalid_constraint' }) as object,
    }),
  );
  const { id: jobId } = submitted.json<{ id: string }>();
  expect(log.lines).toContainEqual(
    expect.objectContaining({ event: 'job.submitted', fields: expect.objectContaining({ jobId }) as object }),
  );
});

test.each([
  ['POST', '/v1/chat/completions', 'application/json'],
  ['POST', '/v1/preview/training-jobs', 'application/json'],
  ['PUT', '/v1/artifacts/default/p/cut/a.bin', 'application/octet-stream'],
])('a client that disconnects within its body is not logged as a storage fault: %s %s', async (method, path, type) => {
  log.lines.length = 0;
  await server.app.listen({ port: 0, host: '127.0.0.1' }).catch(() => {}); // it is listening already
  const { port } = server.app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${BOOTSTRAP_KEY}\r\ncontent-type: ${type}\r\ncontent-length: 10000\r\n\r\n{"model_id":`,
  );
  await once(server.app.server, 'request');
  socket.destroy();
  const events = () => log.lines.map(({ event }) => event);
  await vi.waitFor(() => expect(events()).toContain('request.refused'), { timeout: 20_000 });
  expect(events()).not.toContain('request.failed');
});
