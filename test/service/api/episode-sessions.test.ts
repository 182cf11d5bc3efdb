// Scripted agents over real connections, many at once, that go on, retry, compact, start subagents, and leave in the middle of an
// answer: every answered call is stored once with the tokens of its answer, and what was left is stored as cut.
import { expect, test } from 'vitest';
import { createRandom, type Random } from '#base/random';
import { createClient } from '#client/client';
import { register } from '../../support/api/registered-model.ts';
import { BOOTSTRAP_KEY, shareTestServer } from '../../support/api/test-server.ts';

/** More in a nightly run. */
const SESSIONS = Number(process.env['WHETSTONE_EPISODE_SESSIONS'] ?? 40);
const AT_ONCE = 16;
const TURNS = 8;

const server = await shareTestServer();
await register(server, 'agent');
const url = await server.app.listen({ port: 0, host: '127.0.0.1' });
const client = createClient({ baseUrl: url, apiKey: BOOTSTRAP_KEY });

interface Message {
  readonly role: string;
  readonly content: string;
}

interface Answered {
  readonly id: string;
  readonly prompt_token_ids: number[];
  readonly choices: {
    message: { content: string };
    token_ids: number[];
    logprobs: { content: { logprob: number }[] };
  }[];
}

const post = (episode: string, body: object, signal?: AbortSignal): Promise<Response> =>
  fetch(`${url}/e/sessions/${episode}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'p/agent', return_token_ids: true, ...body }),
    ...(signal ? { signal } : {}),
  });

/** Leaves after the first piece of the answer. */
async function leave(episode: string, messages: readonly Message[]): Promise<void> {
  const leaving = new AbortController();
  const response = await post(episode, { messages, max_tokens: 200, ignore_eos: true, stream: true }, leaving.signal);
  await response.body!.getReader().read();
  leaving.abort();
}

async function play(episode: string, random: Random) {
  const answered: Answered[] = [];
  let [left, messages]: [number, Message[]] = [0, [{ role: 'system', content: `Agent ${episode}.` }, say(0)]];
  const ask = async (asked: readonly Message[]) => {
    const response = await post(episode, {
      messages: asked,
      max_tokens: 1 + random.integer(8),
      seed: random.integer(1e6),
    });
    expect(response.status).toBe(200);
    const answer = (await response.json()) as Answered;
    answered.push(answer);
    return answer.choices[0]!.message.content;
  };
  for (let turn = 1; turn <= TURNS; turn++) {
    const deed = random.integer(6);
    if (deed === 0) {
      await leave(episode, messages);
      left++;
    } else if (deed === 1) await ask(messages);
    else if (deed === 2) await Promise.all([ask([{ role: 'system', content: 'Search.' }, say(turn)]), ask(messages)]);
    else if (deed === 3) messages = [messages[0]!, { role: 'user', content: `Summary of ${messages.length}.` }];
    else messages = [...messages, { role: 'assistant', content: await ask(messages) }, say(turn)];
  }
  return { answered, left };
}

const say = (turn: number): Message => ({ role: 'user', content: `Turn ${turn}.` });

async function check(episode: string, { answered, left }: Awaited<ReturnType<typeof play>>): Promise<number> {
  const calls = [];
  // A client that has left is noticed a moment later.
  const count = async () => (await client.getEpisode(episode)).call_count;
  if (answered.length + left > 0) await expect.poll(count, { timeout: 20_000 }).toBe(answered.length + left);
  else return 0;
  for await (const call of client.listEpisodeTokens(episode)) calls.push(call);
  const whole = new Map(calls.filter(({ cut }) => !cut).map((call) => [call.answer_id, call]));
  expect(whole.size).toBe(answered.length);
  expect(calls.filter(({ cut, trained }) => cut && !trained)).toHaveLength(left);
  for (const { id, prompt_token_ids: promptIds, choices } of answered) {
    const call = whole.get(id)!;
    expect(call.prompt_token_ids).toEqual(promptIds);
    expect(call.choices[0]!.token_ids).toEqual(choices[0]!.token_ids);
    for (const [at, { logprob }] of choices[0]!.logprobs.content.entries())
      expect(call.choices[0]!.logprobs[at]).toBeCloseTo(logprob, 5);
  }
  const rewarded = await client.rewardEpisode(episode, { reward: 1 });
  expect(await client.rewardEpisode(episode, { reward: 1 })).toEqual(rewarded);
  return calls.filter(({ parent_id: parent }) => parent !== null).length;
}

test('every call of every agent is stored as it was sampled', { timeout: 900_000 }, async () => {
  const todo = Array.from({ length: SESSIONS }, (_, at) => at);
  let continued = 0;
  const work = async () => {
    for (let at = todo.shift(); at !== undefined; at = todo.shift()) {
      const played = await play(`session-${at}`, createRandom(at));
      continued += await check(`session-${at}`, played);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  expect(continued).toBeGreaterThan(SESSIONS);
});
