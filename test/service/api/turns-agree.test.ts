// Rollouts of several turns through the whole service: for every sampled token the trainer computes the log-probability that the
// sampler reported, because it computes it after exactly the same tokens. The model's turns are texts that no tokenizer would
// encode that way: random tokens, and scripts (calls in compact JSON, reasoning) spelled a few characters at a time. Under a
// constraint the two differ, and the job says so.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { silentLog } from '#base/log';
import { createRandom } from '#base/random';
import type { ChatMessage } from '#domain/chat';
import type { RlConfigInput } from '#domain/trajectory';
import { openOnnxTrainingEngine } from '#engine/onnx/learning/onnx-training-engine';
import type { GenerateRequest, InferenceEngine, TokenEvent } from '#engine/inference-engine';
import type { TrainingEngine } from '#engine/training-engine';
import { createConversationEncoder } from '#services/jobs/data/conversation-encoder';
import { createMemoryBlobs } from '#storage/blobs/memory';
import { createPrompts } from '#text/prompts/prompts';
import { createChatTemplate } from '#text/chat-template';
import { policyLoss } from '#training/losses';
import { computeLogprobs, withComparisonPolicies } from '#training/comparison-policies';
import { planRlJob, type RlPlan } from '#training/rl-plan';
import { aSession } from '../../support/learning/a-session.ts';
import { storedJob } from './stored-job.ts';
import { BASE, openTestServer, send, type TestServer } from '../../support/api/test-server.ts';
import { openTinyChatModel } from '../../support/api/tiny-chat-model.ts';
import { rowLogprobs, trainRow } from '../../support/learning/one-row.ts';
import { openStorageInMemory } from '../../support/storage-in-memory.ts';

const MODEL = 'wandb-artifact:///default/p/turns';
const STARTER = new URL('../../../scripts/starter/', import.meta.url);
const TURNS = 3;

/** The script of the model's next turn; empty: unscripted. */
const script: string[] = [];

let server: TestServer;
/** The same server after a restart: it remembers no tokens. */
let restarted: TestServer;
let trainer: TrainingEngine;
let modelId: string;

async function openServers(template: string | null): Promise<void> {
  const tiny = await openTinyChatModel(BASE);
  const { text } = tiny;
  const chatTemplate =
    template === null ? text.chatTemplate : createChatTemplate({ default: template }, text.namedTokens, systemClock);
  const prompts = createPrompts(
    { directory: tiny.directory, template: null },
    { chatTemplate, tokenizer: text.tokenizer },
  );
  const given = {
    model: { ...tiny, text: { ...text, chatTemplate, prompts } },
    storage: await openStorageInMemory(),
    blobs: createMemoryBlobs(),
    clock: { ...systemClock, advance: () => undefined },
  };
  server = await openTestServer({ given, wrapEngine: scripted });
  restarted = await openTestServer({ given });
  trainer = await openOnnxTrainingEngine({
    modelDirectory: tiny.directory,
    threads: 1,
    memoryBytes: 4e9,
    log: silentLog,
  });
  const body = { project: 'p', name: 'turns', base_model: BASE };
  const registered = await send(server, { url: '/v1/preview/models', body });
  modelId = registered.json<{ id: string }>().id;
}

async function closeServers(): Promise<void> {
  await trainer.close();
  await restarted.close();
  await server.close();
  await server.model.close();
}

/** The engine, forced to write the script. Its log-probabilities are its own. */
function scripted(real: InferenceEngine): InferenceEngine {
  async function* say(
    ids: readonly number[],
    request: GenerateRequest,
    signal: AbortSignal,
  ): AsyncGenerator<TokenEvent> {
    for (const [i, id] of ids.entries()) {
      const sampling = { ...request.sampling, maxTokens: 1, allowedTokenIds: [id] };
      const promptTokens = [...request.promptTokens, ...ids.slice(0, i)];
      for await (const event of real.generate({ ...request, promptTokens, sampling }, signal)) {
        expect(event.tokenId).toBe(id);
        yield { ...event, finishReason: i === ids.length - 1 ? 'stop' : null };
      }
    }
  }
  return {
    ...real,
    contextLength: real.contextLength,
    vocabSize: real.vocabSize,
    prepare: (constraint, payer, signal) => real.prepare(constraint, payer, signal),
    generate(request, signal) {
      const text = script.shift();
      if (text === undefined) return real.generate(request, signal);
      const events = say(spelled(text), request, signal);
      return { [Symbol.asyncIterator]: () => events, cancelChoice: () => undefined };
    },
  };
}

/** Tokens of one to three characters each, except special ones, and the end of the turn. */
function spelled(text: string): number[] {
  const { tokenizer } = server.model.text;
  const random = createRandom(text.length);
  const ids: number[] = [];
  for (const part of text.split(/(<\/?(?:think|tool_call)>)/)) {
    if (tokenizer.tokenId(part) !== null) ids.push(tokenizer.tokenId(part)!);
    else
      for (let at = 0, length; at < part.length; at += length) {
        length = 1 + random.integer(3);
        ids.push(...tokenizer.encode(part.slice(at, at + length)));
      }
  }
  expect(ids).not.toEqual(tokenizer.encode(text));
  return [...ids, tokenizer.tokenId('<|im_end|>')!];
}

interface Choice {
  readonly message: ChatMessage;
  readonly logprobs: unknown;
  readonly [field: string]: unknown;
}

/** The model's turn is appended to the prompt, as a client would, and a user or a tool answers it. */
async function sampleTurns(fields: Readonly<Record<string, unknown>>, texts: readonly string[], seed: number) {
  const messages: ChatMessage[] = [{ role: 'user', content: 'Two times three?' }];
  const turns: (ChatMessage | Choice)[] = [...messages];
  for (let turn = 0; turn < TURNS; turn++) {
    script.push(...texts.slice(0, 1));
    const response = await send(server, {
      url: '/v1/chat/completions',
      body: { model: MODEL, messages, max_tokens: 60, temperature: 1.5, seed: seed + turn, ...fields },
    });
    expect(response.statusCode, response.body).toBe(200);
    const choice = response.json<{ choices: Choice[] }>().choices[0]!;
    const { message } = choice;
    if (texts.length > 0) expect(message).toMatchObject(texts[0] === CALL ? CALLED : THOUGHT);
    const answers: ChatMessage[] = message.tool_calls?.length
      ? message.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id!, content: '6' }))
      : [{ role: 'user', content: `And ${turn}?` }];
    messages.push(message, ...answers);
    turns.push(choice, ...answers);
  }
  return turns;
}

/** What a job made of these rollouts and submitted to `own` contains. */
async function planOf(
  own: TestServer,
  rollouts: readonly (readonly unknown[])[],
  tools: unknown,
  config: RlConfigInput = {},
): Promise<RlPlan> {
  const trajectories = rollouts.map((turns, reward) => ({ messages_and_choices: turns, tools, reward }));
  const body = { model_id: modelId, trajectory_groups: [{ trajectories }] };
  const response = await send(own, { url: '/v1/preview/training-jobs', body });
  expect(response.statusCode, response.body).toBe(200);
  const { id: jobId } = response.json<{ id: string }>();
  const { groups } = await storedJob(own, jobId);
  await send(own, { method: 'POST', url: `/v1/preview/training-jobs/${jobId}/cancel` });

  const { id, text, inference } = server.model;
  const encoder = createConversationEncoder(id, text, inference.vocabSize);
  const plan = await planRlJob(groups, config, { encoder, budget: trainer.limits, seed: () => 'turns' });
  expect(plan.skipped).toEqual({});
  return plan;
}

/** For each trained token, the difference between the trainer's and the sampler's log-probability. */
async function gapsOf({ rows }: RlPlan): Promise<number[]> {
  const session = await trainer.open(aSession(), AbortSignal.timeout(60_000));
  const gaps: number[] = [];
  for (const { row } of rows) {
    const trained = await rowLogprobs(session, row);
    trained.forEach((logprob, i) => gaps.push(Math.abs(logprob - row.inputs['oldLogprobs']![i]!)));
  }
  await session.close();
  return gaps;
}

/** The smallest and the largest ratio of the job's first loss, before any weight has changed. */
async function ratiosOf({ rows, config: { loss } }: RlPlan): Promise<readonly [number, number]> {
  const session = await trainer.open(aSession(), AbortSignal.timeout(60_000));
  const start = loss.precalculates ? await computeLogprobs(session, rows, () => Promise.resolve(true)) : null;
  const row = withComparisonPolicies(rows[0]!.row, 0, { start, reference: null });
  const { metrics } = await trainRow(session, row, policyLoss(loss));
  await session.close();
  return [metrics['ratio_min']!, metrics['ratio_max']!];
}

const ADD = { type: 'function', function: { name: 'add', parameters: { type: 'object', properties: {} } } };
const CALL = '<tool_call>\n{"name":"add","arguments":{"a":1,"b":"yes"}}\n</tool_call>';
const CALLED = { tool_calls: [{ function: { arguments: '{"a":1,"b":"yes"}' } }] };
const THOUGHT = { reasoning: 'Maybe six.', content: 'It is six.' };
interface Case {
  readonly what: string;
  readonly fields?: { readonly tools?: readonly object[]; readonly [field: string]: unknown };
  readonly texts?: readonly string[];
}
const CASES: readonly Case[] = [
  { what: 'random tokens' },
  { what: 'tool calls in compact JSON', fields: { tools: [ADD] }, texts: [CALL] },
  { what: 'thoughts', texts: ['<think>\nMaybe six.\n</think>\n\nIt is six.'] },
];
const UNTOLD: Case = {
  what: 'a prompt that the trajectory does not tell',
  fields: { chat_template_kwargs: { enable_thinking: false } },
};

const RIGHT = { type: 'object', properties: { right: { type: 'boolean' } }, required: ['right'] };
const NAMED = { tools: [ADD], tool_choice: { type: 'function', function: { name: 'add' } } };
const CONSTRAINED: readonly Case[] = [
  {
    what: 'answers in a format',
    fields: { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: RIGHT } } },
  },
  { what: 'calls that are required', fields: { tools: [ADD], tool_choice: 'required' } },
  { what: 'calls of a named tool', fields: NAMED },
];

const whole = (choice: Choice): object => choice;
const onlyLogprobs = ({ message, logprobs }: Choice): object => ({ message, logprobs });
const onlyMessage = ({ message }: Choice): object => ({ message });

async function expectAgreement(
  { fields = {}, texts = [] }: Case,
  own: () => TestServer,
  forms: readonly ((choice: Choice) => object)[],
) {
  const sampled = await Promise.all([100, 200].map((seed) => sampleTurns(fields, texts, seed)));
  for (const sentAs of forms) {
    const sent = sampled.map((turns) => turns.map((turn) => ('message' in turn ? sentAs(turn as Choice) : turn)));
    const gaps = await gapsOf(await planOf(own(), sent, fields.tools ?? null));
    expect(gaps.length, sentAs.name).toBeGreaterThan(20);
    expect(Math.max(...gaps), sentAs.name).toBeLessThan(1e-3);
  }
}

const TEMPLATES = [
  ['a template that keeps the past', await readFile(new URL('chat-template.jinja', STARTER), 'utf8')],
  ['a template that rewrites the past', null],
] as const;

describe.each(TEMPLATES)('%s', (_, template) => {
  beforeAll(() => openServers(template));
  afterAll(closeServers);

  test.each([...CASES, UNTOLD])('$what: at an unchanged policy every ratio is 1, whatever the choices carry', (each) =>
    expectAgreement(each, () => server, [whole, onlyLogprobs, onlyMessage]),
  );

  test.each(CONSTRAINED)(
    '$what: log-probabilities are those of the constrained distribution, and the job says so; its own are those of the trainer',
    async ({ fields = {} }) => {
      const rollouts = await Promise.all([100, 200].map((seed) => sampleTurns(fields, [], seed)));
      const told = await planOf(server, rollouts, fields.tools ?? null);
      expect(told.counts).toMatchObject({ num_constrained_turns: 2 * TURNS });
      expect(told.counts).toMatchObject({ num_reshaped_turns: 2 * TURNS });
      expect(told.warnings).toEqual([
        expect.stringMatching(/^6 turns were sampled under a constraint/),
        expect.stringMatching(/^6 turns were sampled off-policy, from a distribution that temperature changed/),
      ]);
      expect((await ratiosOf(told))[0]).toBeLessThan(0.5);
      const precalculated = await planOf(server, rollouts, fields.tools ?? null, { precalculateLogprobs: true });
      expect(precalculated.warnings).toEqual([expect.stringMatching(/off-policy/)]);
      for (const ratio of await ratiosOf(precalculated)) expect(ratio).toBeCloseTo(1, 5);
    },
  );

  test('a call of a named tool is marked as forced, also if the server has forgotten it', async () => {
    const rollouts = await Promise.all([100, 200].map((seed) => sampleTurns(NAMED, [], seed)));
    const { counts } = await planOf(restarted, rollouts, NAMED.tools);
    expect(counts).toMatchObject({ num_constrained_turns: 2 * TURNS });
  });

  test.each(CASES)('$what: the same holds if the server has forgotten the prompts', (each) =>
    expectAgreement(each, () => restarted, [whole, onlyLogprobs]),
  );
});
