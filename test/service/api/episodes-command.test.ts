// `whetstone episodes` and `models train-online`, run in this process against a listening server: what people read, and what is sent.
import { expect, test } from 'vitest';
import { register } from '../../support/api/registered-model.ts';
import { BOOTSTRAP_KEY, chat, send, shareTestServer } from '../../support/api/test-server.ts';
import { runCommand } from './run-command.ts';

const server = await shareTestServer();
const modelId = await register(server, 'agent');
const remote = ['--url', await server.app.listen({ port: 0, host: '127.0.0.1' }), '--key', BOOTSTRAP_KEY];

async function run(...args: string[]): Promise<string> {
  const { stdout, error } = await runCommand(...args, ...remote);
  expect(error).toBeNull();
  return stdout;
}

test('an episode is begun before its agent runs, and found again with its addresses', async () => {
  const first = await run('episodes', 'begin', 'p/agent', '--name', 'run-1', '--group', 'task');
  expect(first).toMatch(
    /^episode +run-1\nOpenAI clients +http\S+\/e\/task\/run-1\/v1\nAnthropic clients +http\S+\/e\/task\/run-1\n$/,
  );
  expect(await run('episodes', 'begin', 'p/agent', '--name', 'run-1')).toBe(first);
  await run('episodes', 'reward', 'run-1', '1');
  expect(await run('episodes', 'begin', 'p/agent', '--name', 'run-1')).toMatch(/The episode is rewarded, and takes no/);
});

test('an agent that goes on stays in its line, although its answer was written anew; a retry does not', async () => {
  const ask = (messages: object[]) =>
    send(server, {
      url: '/e/rewritten/v1/chat/completions',
      body: chat({ model: 'p/agent', messages, max_tokens: 2 }),
    });
  const asked = [{ role: 'user', content: 'First.' }];
  await ask(asked);
  const going = [...asked, { role: 'assistant', content: 'Without thoughts.' }, { role: 'user', content: 'Second.' }];
  await ask(going);
  await ask(going);
  const lines = (await run('episodes', 'get', 'rewritten')).split('\n').filter((line) => line.includes('chatcmpl-'));
  expect(lines.map((line) => line.search(/\S/))).toEqual([0, 0, 2]);
});

test('messages that only call tools show what they call', async () => {
  const called = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{"a": 1}' } };
  const messages = [
    { role: 'user', content: 'Add.' },
    { role: 'assistant', content: null, tool_calls: [called] },
    { role: 'tool', tool_call_id: 'c1', content: '2' },
  ];
  const body = chat({ model: 'p/agent', messages, max_tokens: 2 });
  await send(server, { url: '/e/calling/v1/chat/completions', body });
  const lines = (await run('episodes', 'get', 'calling')).split('\n');
  expect(lines.slice(3, 6)).toEqual(['  user: Add.', '  assistant: add {"a": 1}', '  tool: 2']);
});

test('a staleness on the command line replaces that of the settings that were sent with a request', async () => {
  const url = `/v1/preview/models/${modelId}/online-training`;
  const body = { groups_per_step: 2, experimental_config: { max_staleness: 2, learning_rate: 0.01 } };
  expect((await send(server, { method: 'PUT', url, body })).statusCode).toBe(200);
  await run('models', 'train-online', 'p/agent', '--max-staleness', '3');
  expect((await send(server, { url })).json()).toMatchObject({
    ...{ groups_per_step: 2, max_staleness: 3 },
    experimental_config: { learning_rate: 0.01 },
  });
});
