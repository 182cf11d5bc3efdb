// Unmodified agents under an episode's address: the SDKs of OpenAI and Anthropic get a base URL and a key, and our client the reward.
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { Command } from 'commander';
import { expect, test, vi } from 'vitest';
import { createClient } from '#client/client';
import { addEpisodes } from '../../../src/commands/episodes.ts';
import { createRemote } from '../../../src/commands/remote.ts';
import { register } from '../../support/api/registered-model.ts';
import { BOOTSTRAP_KEY, shareTestServer } from '../../support/api/test-server.ts';

const server = await shareTestServer({ limits: { basePath: '/api/training' } });
const modelId = await register(server, 'agent');
const url = await server.app.listen({ port: 0, host: '127.0.0.1' });
const client = createClient({ baseUrl: url, apiKey: BOOTSTRAP_KEY });
const model = 'p/agent';

test('the OpenAI SDK streams and answers under an episode’s address, and every call is there', async () => {
  const episode = await client.episode({ model, group: 'g', metadata: { seed: 1 } });
  expect(episode).toMatchObject({ modelId, group: 'g', baseUrl: `${url}/e/g/${episode.name}/v1` });
  const openai = new OpenAI({ baseURL: episode.baseUrl, apiKey: BOOTSTRAP_KEY });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const whole = await openai.chat.completions.create({ model, messages, max_tokens: 4 });
  const ids = [whole.id];
  const stream = await openai.chat.completions.create({ model, messages, max_tokens: 4, stream: true });
  for await (const { id } of stream) if (!ids.includes(id)) ids.push(id);
  const listed = await openai.models.list();
  expect(listed.data.length).toBeGreaterThan(0);
  const calls = [];
  for await (const call of episode.calls()) calls.push(call);
  expect(calls.map(({ answer_id: id }) => id)).toEqual(ids);
  expect(await episode.reward(1)).toMatchObject({ status: 'rewarded', reward: 1, call_count: 2 });
  const tokens = [];
  for await (const call of client.listEpisodeTokens(episode.id)) tokens.push(call.choices[0]!.token_ids.length);
  expect(tokens).toEqual(calls.map(({ choices }) => choices[0]!.completion_tokens));
  await expect(openai.chat.completions.create({ model, messages })).rejects.toMatchObject({ status: 409 });
});

test('an episode without a model says what is missing', async () => {
  const start = client.episode as (options: object) => Promise<unknown>; // as JavaScript calls it
  await expect(start({ group: 'g' })).rejects.toThrow('No model. Name it project/name.');
});

test('the Anthropic SDK speaks under an episode’s address, and under the operator’s prefix', async () => {
  const behindProxy = createClient({ baseUrl: `${url}/api/training`, apiKey: BOOTSTRAP_KEY });
  const episode = await behindProxy.episode({ model: modelId, name: 'claude' });
  expect(episode.anthropicBaseUrl).toBe(`${url}/api/training/e/claude`);
  const anthropic = new Anthropic({ baseURL: episode.anthropicBaseUrl, apiKey: BOOTSTRAP_KEY });
  const said = await anthropic.messages.create({ model, max_tokens: 4, messages: [{ role: 'user', content: 'Hi' }] });
  const stream = anthropic.messages.stream({ model, max_tokens: 4, messages: [{ role: 'user', content: 'Hi' }] });
  const streamed = await stream.finalMessage();
  const read = await client.getEpisode('claude');
  expect(read.calls.map(({ answer_id: id }) => id)).toEqual([said.id, streamed.id]);
});

test('headers name an episode for clients whose address is fixed, with a judge beside the agent', async () => {
  const episode = await client.episode({ model, group: 'h', name: 'by-header' });
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  const agent = new OpenAI({ baseURL: `${url}/v1`, apiKey: BOOTSTRAP_KEY, defaultHeaders: episode.headers });
  await agent.responses.create({ model, input: 'Hi', max_output_tokens: 16 });
  const judge = agent.withOptions({ defaultHeaders: { ...episode.headers, 'X-Whetstone-Train': 'false' } });
  await judge.chat.completions.create({ model, messages, max_tokens: 4 });
  const { calls } = await client.getEpisode('by-header', { modelId });
  expect(calls.map(({ trained }) => trained)).toEqual([true, false]);
  const listed = [];
  for await (const { name } of client.listEpisodes({ group: 'h', model_id: modelId })) listed.push(name);
  expect(listed).toEqual(['by-header']);
  await episode.delete();
  await expect(episode.read()).rejects.toMatchObject({ status: 404, code: 'episode_not_found' });
});

test('`whetstone episodes get` prints the calls as trees, and nothing that a terminal would interpret', async () => {
  const { baseUrl, name } = await client.episode({ model, name: 'printed' });
  const openai = new OpenAI({ baseURL: baseUrl, apiKey: BOOTSTRAP_KEY });
  const ask = (content: string) =>
    openai.chat.completions.create({ model, messages: [{ role: 'user', content }], max_tokens: 2, seed: 1 });
  const [first, again] = [await ask('Hi\u001b]0;owned\u0007'), await ask('Hi\u001b]0;owned\u0007')];
  const program = new Command();
  addEpisodes(program, createRemote());
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await program.parseAsync(['node', 'whetstone', 'episodes', 'get', name, '--url', url, '--key', BOOTSTRAP_KEY]);
  const lines = write.mock.calls
    .map(([text]) => String(text))
    .join('')
    .split('\n');
  write.mockRestore();
  expect(lines[0]).toMatch(/^EPISODE +GROUP +STATUS +REWARD +CALLS +TRAINED TOKENS/);
  expect(lines[1]).toMatch(/^printed +- +open +- +2 +4 /);
  expect(lines.slice(2)).toEqual([
    expect.stringMatching(new RegExp(`^${first.id}  step 0, \\d+ prompt tokens, begins a tree$`)),
    '  user: Hi ]0;owned ',
    expect.stringMatching(/^ {2}→ .* \(2 tokens, length\)$/),
    expect.stringMatching(new RegExp(`^  ${again.id}  step 0, \\d+ prompt tokens$`)),
    expect.stringMatching(/^ {4}→ .* \(2 tokens, length\)$/),
    '',
  ]);
});
