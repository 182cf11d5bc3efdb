// What operators read: enough to follow a request and a job, nothing that a user said, was answered, or must keep secret.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BASE, BOOTSTRAP_KEY, chat, openTestServer, send, type TestServer } from '../api/test-server.ts';
import { createRecordingLog } from '../serving/recording-log.ts';

const log = createRecordingLog();
let server: TestServer;
beforeAll(async () => void (server = await openTestServer({ log })));
afterAll(() => server.close());

const WORDS = 'the heron landed at seventeen minutes past nine';

test('a request and a job can be followed by their ids, and no line has a prompt, an answer or a key in it', async () => {
  const answer = await send(server, {
    url: '/v1/chat/completions',
    headers: { 'x-request-id': 'follow-me' },
    body: chat({ messages: [{ role: 'user', content: WORDS }], user: WORDS, metadata: { note: WORDS } }),
  });
  const { choices } = answer.json<{ choices: { message: { content: string } }[] }>();
  await send(server, { url: '/v1/chat/completions', body: chat({ messages: [{ role: WORDS }] }) });
  await send(server, { url: '/v1/chat/completions', body: chat({ structured_outputs: { regex: `((${WORDS}` } }) });
  await send(server, { url: '/v1/models', headers: { authorization: `Bearer wk-wrong-${WORDS.slice(4, 9)}` } });
  const model = { project: 'p', name: 'm', base_model: BASE };
  const { id: model_id } = (await send(server, { url: '/v1/preview/models', body: model })).json<{ id: string }>();
  const trajectory = { messages_and_choices: [{ role: 'user', content: WORDS }], reward: 1 };
  const job = { model_id, trajectory_groups: [{ trajectories: [trajectory, { ...trajectory, reward: 0 }] }] };
  const submitted = await send(server, { url: '/v1/preview/training-jobs', body: job });
  expect(submitted.statusCode, submitted.body).toBe(200);
  const made = await send(server, { url: '/v1/keys', body: { name: 'n' } });
  const { secret } = made.json<{ secret: string }>();

  const text = JSON.stringify(log.lines, (_, value: unknown) => (value instanceof Error ? `${value.stack} ${JSON.stringify(value)}` : value)); // prettier-ignore
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
  const { id: jobId } = submitted.json<{ id: string }>();
  expect(log.lines).toContainEqual(
    expect.objectContaining({ event: 'job.submitted', fields: expect.objectContaining({ jobId }) as object }),
  );
});
