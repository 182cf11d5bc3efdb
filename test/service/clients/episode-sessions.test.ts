// Scripted agents over real connections, many at once, that go on, retry, compact, start subagents, and leave in the middle of an
// answer: every answered call is stored once with the tokens of its answer, what was left is stored as cut, and a job trains what was
// answered, each token once, with the log-probabilities under which it was sampled.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '#base/random';
import { createClient, type Client } from '#client/client';
import { KEY, MODEL, openStarterServer, type StarterServer } from '../../support/clients/starter-server.ts';

/** `npm run test:episodes` makes a thousand. */
const SESSIONS = Number(process.env['WHETSTONE_EPISODE_SESSIONS'] ?? 20);
const AT_ONCE = 64;
const TURNS = 8;
const GO_ON = 5;
const MINUTES = 60_000;

let server: StarterServer;
let client: Client;
let modelId: string;
beforeAll(async () => {
  server = await openStarterServer();
  client = createClient({ baseUrl: server.baseUrl.replace(/\/v1$/, ''), apiKey: KEY });
  modelId = (await client.registerModel({ project: 'p', name: 'agent', base_model: MODEL })).id;
}, MINUTES);
afterAll(() => server.close());

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
  fetch(`${server.baseUrl.replace(/v1$/, '')}e/${groupOf(episode)}/${episode}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'p/agent', return_token_ids: true, ...body }),
    ...(signal ? { signal } : {}),
  });

const nameOf = (at: number): string => `session-${at}`;
/** Two sessions are a group. */
const groupOf = (episode: string): string => `task-${Number(episode.split('-')[1]) >> 1}`;

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
      max_tokens: 1 + random.integer(16),
      ignore_eos: random.integer(2) === 0,
      seed: random.integer(1e6),
    });
    expect(response.status, await response.clone().text()).toBe(200);
    const answer = (await response.json()) as Answered;
    answered.push(answer);
    return answer.choices[0]!.message.content;
  };
  for (let turn = 1; turn <= TURNS; turn++) {
    const deed = turn === 1 ? GO_ON : random.integer(6);
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

type Played = Awaited<ReturnType<typeof play>>;

/** Returns how many calls continue others. */
async function check(episode: string, { answered, left }: Played): Promise<number> {
  const calls = [];
  // A client that has left is noticed a moment later.
  const count = async () => (await client.getEpisode(episode)).call_count;
  await expect.poll(count, { timeout: MINUTES }).toBe(answered.length + left);
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
  return calls.filter(({ parent_id: parent }) => parent !== null).length;
}

/** Posts it twice. */
async function reward(at: number): Promise<void> {
  const given = { reward: 1 - (at % 2) };
  const rewarded = await client.rewardEpisode(nameOf(at), given);
  expect(rewarded).toMatchObject({ status: 'rewarded', ...given });
  expect(await client.rewardEpisode(nameOf(at), given)).toEqual(rewarded);
}

interface TrainedRun {
  readonly prompt: number[];
  readonly tokens: number[];
}

/** The runs of trained tokens of a sequence, each after what precedes it. */
function* runsOf(ids: readonly number[], trained: readonly boolean[]): Generator<TrainedRun> {
  for (let from = trained.indexOf(true); from >= 0;) {
    const after = trained.indexOf(false, from);
    const to = after < 0 ? ids.length : after;
    yield { prompt: ids.slice(0, from), tokens: ids.slice(from, to) };
    from = trained.indexOf(true, to);
  }
}

const inOrder = (runs: readonly TrainedRun[]) => runs.map((run) => JSON.stringify(run)).toSorted();
const asRuns = ({ answered }: Played): TrainedRun[] =>
  answered.map(({ prompt_token_ids: prompt, choices }) => ({ prompt, tokens: choices[0]!.token_ids }));

test(
  'every call of every agent is stored as it was sampled, and trained once',
  { timeout: MINUTES * (5 + SESSIONS / 10) },
  async () => {
    const todo = Array.from({ length: SESSIONS }, (_, at) => at);
    const played: Played[] = [];
    let continued = 0;
    const work = async () => {
      for (let at = todo.shift(); at !== undefined; at = todo.shift()) {
        const got = await play(nameOf(at), createRandom(at));
        played[at] = got;
        continued += await check(nameOf(at), got);
        await reward(at);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    expect(continued).toBeGreaterThan(SESSIONS);

    const groups = Array.from({ length: SESSIONS / 2 }, (_, at) => [nameOf(2 * at), nameOf(2 * at + 1)]);
    const config = { learning_rate: 0 }; // the policy stays as it was
    const options = { deadlineMs: MINUTES * SESSIONS };
    const job = await client.train({ model_id: modelId, episode_groups: groups, experimental_config: config }, options);
    let tokens = 0;
    let farthest = 0;
    for (const group of groups.keys()) {
      for await (const { index, reward: given, sequences } of client.listTokens(job.id, group)) {
        expect(given).toBe(1 - index);
        const runs = sequences.flatMap(({ token_ids: ids, trained }) => [...runsOf(ids, trained)]);
        expect(inOrder(runs), nameOf(2 * group + index)).toEqual(inOrder(asRuns(played[2 * group + index]!)));
        for (const { ratios, trained } of sequences)
          for (const at of trained.keys()) if (trained[at]) farthest = Math.max(farthest, Math.abs(ratios![at]! - 1));
        tokens += runs.reduce((sum, run) => sum + run.tokens.length, 0);
      }
    }
    const calls = played.reduce((sum, { answered }) => sum + answered.length, 0);
    const left = played.reduce((sum, each) => sum + each.left, 0);
    console.log(
      `${SESSIONS} sessions, ${calls} answered calls, ${left} left, ${tokens} trained tokens, ratio within ${farthest.toExponential(1)} of 1`,
    );
    expect(tokens).toBeGreaterThan(calls);
    expect(farthest).toBeLessThan(1e-3);
  },
);
