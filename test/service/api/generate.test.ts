// POST /inference/v1/generate against a real (tiny) model: tokens as completions sample them, both forms of log-probabilities, stops,
// streams, thinking, episodes, and what is refused or not used.
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { generatedSchema } from '#api/generate/generate-response-schema';
import type { GenerateRequest } from '#engine/inference-engine';
import { register } from '../../support/api/registered-model.ts';
import { saveWeights } from '../../support/api/saved-weights.ts';
import { BASE, containing, faults, runScenarios, send, shareTestServer } from '../../support/api/test-server.ts';
import { CONTEXT_LENGTH } from '../../support/api/tiny-chat-model.ts';

let asked: GenerateRequest | null = null;
const server = await shareTestServer({
  wrapEngine(real) {
    const generate = real.generate.bind(real);
    return Object.assign(real, {
      generate: (request: GenerateRequest, signal: AbortSignal) => generate((asked = request), signal),
    });
  },
});
await register(server, 'agent');

const url = '/inference/v1/generate';
const { tokenizer } = server.model.text;
const PROMPT = tokenizer.encode('Once upon a time');
const THINK = tokenizer.tokenId('<think>')!;
const THOUGHT = tokenizer.tokenId('</think>')!;

type Generated = z.output<typeof generatedSchema>;

const body = (sampling: object = {}, fields: object = {}) => ({
  model: BASE,
  token_ids: PROMPT,
  sampling_params: { max_tokens: 8, temperature: 0, seed: 1, ...sampling },
  ...fields,
});

async function generate(sampling: object = {}, fields: object = {}): Promise<Generated> {
  const response = await send(server, { url, body: body(sampling, fields) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}
const choice = async (sampling: object = {}, fields: object = {}) => (await generate(sampling, fields)).choices[0]!;

interface Chunk {
  request_id: string;
  choices: Generated['choices'];
  usage: Generated['usage'] | null;
  prompt_token_ids?: number[];
  warnings?: string[];
}

async function stream(sampling: object, fields: object = {}): Promise<Chunk[]> {
  const response = await send(server, { url, body: body(sampling, { stream: true, ...fields }) });
  expect(response.statusCode, response.body).toBe(200);
  const frames = response.body
    .trim()
    .split('\n\n')
    .map((frame) => frame.replace(/^data: /, ''));
  expect(frames.pop()).toBe('[DONE]');
  return frames.map((frame) => JSON.parse(frame) as Chunk);
}

/** The same tokens by the neighbouring endpoint. */
async function completed(fields: object = {}) {
  const request = { model: BASE, prompt: PROMPT, max_tokens: 8, temperature: 0, seed: 1, return_token_ids: true };
  const response = await send(server, { url: '/v1/completions', body: { ...request, ...fields } });
  return response.json<{ choices: { token_ids: number[]; text: string }[]; usage: object }>();
}

describe('an answer', () => {
  test('has the tokens that completions sample, and all keys', async () => {
    const answer = await generate();
    expect(generatedSchema.strict().safeParse(answer).error).toBeUndefined();
    const { choices, usage } = await completed();
    expect(answer.choices[0]!.token_ids).toEqual(choices[0]!.token_ids);
    expect({ ...answer.usage, prompt_tokens_details: null }).toEqual({ ...usage, prompt_tokens_details: null });
    expect(answer).toMatchObject({
      request_id: expect.stringMatching(/^generate-tokens-/) as string,
      model: BASE,
      output_mode: 'tokens',
      prompt_token_ids: null,
      choices: [{ index: 0, finish_reason: 'length', stop_reason: null, logprobs: null }],
    });
  });

  test('has the id that the client sends', async () => {
    expect((await generate({}, { request_id: 'mine' })).request_id).toBe('generate-tokens-mine');
  });

  test('has text if it is asked for, and the prompt’s tokens', async () => {
    const { text } = (await completed()).choices[0]!;
    const answer = await generate({ logprobs: 1 }, { output_mode: 'text', return_token_ids: true });
    expect(answer).toMatchObject({ output_mode: 'text', prompt_token_ids: PROMPT, choices: [{ text }] });
    const { token_ids: ids, logprobs } = answer.choices[0]!;
    expect(logprobs!.content.map(({ token }) => token)).toEqual(ids.map((id) => tokenizer.tokenText(id)));
    expect(logprobs!.content[0]!.bytes).toEqual([...tokenizer.tokenBytes(ids[0]!)]);
  });

  test('ends where the context does, whatever max_tokens says', async () => {
    const long = Array.from({ length: CONTEXT_LENGTH - 3 }, () => PROMPT[0]!);
    const fields = { token_ids: long };
    for (const max_tokens of [1_000_000, null])
      expect(await choice({ max_tokens, ignore_eos: true }, fields)).toMatchObject({
        token_ids: [expect.anything(), expect.anything(), expect.anything()],
        finish_reason: 'length',
      });
  });
});

test('what is not set is the model’s own distribution', async () => {
  await generate({ temperature: undefined });
  expect(asked!.sampling).toMatchObject({
    temperature: 1,
    topP: 1,
    topK: 0,
    minP: 0,
    repetitionPenalty: 1,
    topLogprobs: 0,
  });
  await generate({ temperature: 0.5, top_p: 0.9, top_k: 7, min_p: 0.1, repetition_penalty: 1.1, bad_words: null });
  expect(asked!.sampling).toMatchObject({ temperature: 0.5, topP: 0.9, topK: 7, minP: 0.1, repetitionPenalty: 1.1 });
});

describe('log-probabilities', () => {
  test('name tokens as both of vLLM’s forms do, the sampled one first', async () => {
    const { token_ids: ids, logprobs } = await choice({ logprobs: 3, temperature: 1 });
    expect(logprobs!.content.map(({ token }) => token)).toEqual(ids.map((id) => `token_id:${id}`));
    for (const [at, { top_logprobs: top, ...own }] of logprobs!.content.entries()) {
      expect(own.token_id).toBe(ids[at]);
      expect(top[0]).toEqual(own);
      expect(top).toHaveLength(3);
      expect(top.slice(1).map(({ logprob }) => logprob)).toEqual(
        top
          .slice(1)
          .map(({ logprob }) => logprob)
          .sort((a, b) => b - a),
      );
    }
  });

  test.each([
    ['0', { logprobs: 0 }, 1],
    ['1', { logprobs: 1 }, 1],
    ['the whole vocabulary', { logprobs: -1 }, 400],
  ])('of %s: the list is as long as asked', async (_, sampling, length) => {
    const response = await send(server, { url, body: body({ max_tokens: 1, ...sampling }) });
    if (length === 400) return expect(response.json<{ error: object }>().error).toMatchObject({ param: 'logprobs' });
    expect(response.json<Generated>().choices[0]!.logprobs!.content[0]!.top_logprobs).toHaveLength(length);
  });

  test('of chosen tokens need no count, and have no rank', async () => {
    const { token_ids: ids, logprobs } = await choice({ logprob_token_ids: [5, 9], max_tokens: 2 });
    for (const [at, { top_logprobs: top, rank }] of logprobs!.content.entries()) {
      expect(new Set(top.map(({ token_id: id }) => id))).toEqual(new Set([ids[at], 5, 9]));
      expect([rank, ...top.map((each) => each.rank)].every((each) => each === null)).toBe(true);
    }
  });

  test('of the prompt have a map for each token after the first', async () => {
    const { prompt_logprobs: listed } = await generate({ prompt_logprobs: 1 });
    expect(listed).toHaveLength(PROMPT.length);
    expect(listed![0]).toBeNull();
    expect(Object.keys(listed![1]!)).toContain(String(PROMPT[1]));
  });
});

describe('an answer ends', () => {
  test('at a stop token, which is part of it', async () => {
    const { token_ids: ids } = await choice();
    const stop = ids[3]!;
    const expected = ids.slice(0, ids.indexOf(stop) + 1);
    const stopped = await choice({ stop_token_ids: [stop] });
    expect(stopped).toMatchObject({ token_ids: expected, finish_reason: 'stop', stop_reason: stop });
  });

  test('at a stop text, whose tokens it keeps while the text is cut', async () => {
    const { token_ids: ids, text } = await choice({}, { output_mode: 'text' });
    const stop = text!.slice(4, 6);
    const end = text!.indexOf(stop);
    const cut = await choice({ stop }, { output_mode: 'text' });
    expect(cut).toMatchObject({ text: text!.slice(0, end), finish_reason: 'stop', stop_reason: stop });
    expect(ids.slice(0, cut.token_ids.length)).toEqual(cut.token_ids);
    expect(tokenizer.decode(cut.token_ids, { skipSpecialTokens: true })).toContain(stop);
    const included = await choice({ stop, include_stop_str_in_output: true }, { output_mode: 'text' });
    expect(included.text).toBe(text!.slice(0, end + stop.length));
  });
});

describe('a stream', () => {
  test.each([{ logprobs: 2 }, { n: 2, temperature: 1 }])(
    'with %j has the tokens of the whole answer',
    async (sampling) => {
      const whole = await generate(sampling, { output_mode: 'text' });
      const chunks = await stream(sampling, { output_mode: 'text', stream_options: { include_usage: true } });
      const last = chunks.pop()!;
      expect(last).toMatchObject({ choices: [], usage: { total_tokens: whole.usage.total_tokens } });
      for (const { index, ...expected } of whole.choices) {
        const parts = chunks.flatMap(({ choices }) => choices).filter((part) => part.index === index);
        expect({
          token_ids: parts.flatMap(({ token_ids: ids }) => ids),
          text: parts.map(({ text }) => text).join(''),
          logprobs: expected.logprobs && { content: parts.flatMap(({ logprobs }) => logprobs!.content) },
          finish_reason: parts.at(-1)!.finish_reason,
          stop_reason: parts.at(-1)!.stop_reason,
          weight_versions: parts.at(-1)!.weight_versions,
        }).toEqual(expected);
      }
    },
  );

  test('has the prompt’s tokens once, and usage in each chunk if asked', async () => {
    const options = { include_usage: true, continuous_usage_stats: true };
    const chunks = await stream({ max_tokens: 3 }, { return_token_ids: true, stream_options: options });
    expect(chunks.map(({ prompt_token_ids: ids }) => ids)).toEqual([PROMPT, undefined, undefined, undefined]);
    expect(chunks.map(({ usage }) => usage!.completion_tokens)).toEqual([1, 2, 3, 3]);
    expect((await stream({ max_tokens: 1 }, {})).map(({ usage }) => usage)).toEqual([null]);
  });

  test('says in its first chunk what was not used', async () => {
    const chunks = await stream({ paint: 1, max_tokens: 2, n: 2 });
    expect(chunks.map(({ warnings }) => warnings)).toEqual([
      [containing('sampling_params.paint is not a field')],
      ...Array.from({ length: 3 }, () => undefined),
    ]);
  });
});

describe('thinking', () => {
  const open = { token_ids: [...PROMPT, THINK] };
  const longer = { max_tokens: 12, logit_bias: { [THOUGHT]: -100 } };

  test('ends within its budget', async () => {
    const { token_ids: ids } = await choice({ ...longer, thinking_token_budget: 3 }, open);
    expect(ids.indexOf(THOUGHT)).toBe(3);
    expect((await choice({ ...longer, thinking_token_budget: -1 }, open)).token_ids).not.toContain(THOUGHT);
    const closed = await choice({ ...longer, thinking_token_budget: 3 }, { ...open, reasoning_ended: true });
    expect(closed.token_ids).not.toContain(THOUGHT);
  });

  test.each([
    ['the end of the prompt says', {}, THOUGHT],
    ['the client says', { token_ids: PROMPT, reasoning_ended: false }, THOUGHT],
    ['the client denies', { reasoning_ended: true }, null],
    ['nothing says', { token_ids: PROMPT }, null],
  ])('comes before a constrained answer where %s', async (_, fields, afterTokenId) => {
    await generate({ structured_outputs: { choice: ['yes', 'no'] } }, { ...open, ...fields });
    expect(asked!.constraint!.afterTokenId).toBe(afterTokenId);
  });

  test('does not keep an answer from its constraint', async () => {
    const { text } = await choice({ structured_outputs: { choice: ['yes'] } }, { output_mode: 'text' });
    expect(text).toBe('yes');
  });
});

describe('an episode', () => {
  const model = 'p/agent';
  interface Call {
    answer_id: string;
    parent_id: string | null;
    shared_tokens: number;
    policy_step: number;
    prompt_token_ids: number[];
    choices: { token_ids: number[]; logprobs: number[]; constrained: boolean }[];
  }

  test('has the calls of each address and header, as a chain of their tokens', async () => {
    const first = await send(server, {
      url: `/e/group/run${url}`,
      body: body({ logprobs: 1, temperature: 1 }, { model }),
    });
    expect(first.headers['x-whetstone-model']).toBe('default/p/agent:step0');
    const one = first.json<Generated>();
    expect(one.choices[0]!.policy_step).toBe(0);
    const next = [...PROMPT, ...one.choices[0]!.token_ids, ...PROMPT];
    const headers = { 'x-whetstone-episode': 'run', 'x-whetstone-group': 'group', 'x-session-id': 'anything' };
    const second = await send(server, { url, headers, body: body({}, { model, token_ids: next, stream: true }) });
    expect(second.body).toContain('"policy_step":0');
    const tokens = await send(server, { url: '/v1/preview/episodes/run/tokens' });
    const [began, went] = tokens.json<{ data: Call[] }>().data;
    expect(began).toMatchObject({
      answer_id: one.request_id,
      policy_step: 0,
      prompt_token_ids: PROMPT,
      choices: [{ token_ids: one.choices[0]!.token_ids, constrained: false }],
    });
    expect(began!.choices[0]!.logprobs).toEqual(
      one.choices[0]!.logprobs!.content.map(({ logprob }) => expect.closeTo(logprob, 5) as unknown),
    );
    expect(went!.parent_id).not.toBeNull();
    expect(went!.prompt_token_ids).toEqual(next);
    const reward = { reward: 1, turn_rewards: { [one.request_id]: 0.5 } };
    const rewarded = await send(server, { url: '/v1/preview/episodes/run/reward', body: reward });
    expect(rewarded.statusCode, rewarded.body).toBe(200);
  });

  test('may be named as a part of the address', async () => {
    const chat = { model, max_tokens: 2, messages: [{ role: 'user', content: 'Hi' }] };
    const answer = await send(server, { url: '/e/group/inference/v1/chat/completions', body: chat });
    expect(answer.statusCode, answer.body).toBe(200);
    const episode = await send(server, { url: '/v1/preview/episodes/inference' });
    expect(episode.json()).toMatchObject({ name: 'inference', group: 'group' });
  });
});

test('weights that a Tinker client saved answer under the name of their model', async () => {
  const post = async <T>(path: string, body: object) =>
    (await send(server, { url: `/tinker/api/v1/${path}`, body })).json<T>();
  const { session_id } = await post<{ session_id: string }>('create_session', {});
  const about = { session_id, model_seq_id: 0, base_model: BASE, lora_config: { rank: 4 } };
  const { model_id: run } = await post<{ model_id: string }>('create_model', about);
  await saveWeights(server, run, 'sampler_weights', 'a');
  const answer = await generate({}, { model: `tinker/${session_id}-0` });
  expect(answer.model).toMatch(new RegExp(`/tinker/${session_id}-0:step1$`));
  expect(answer.choices[0]!.token_ids).toEqual((await choice()).token_ids); // they equal the initial weights
});

test('sampled tokens are charged to the account of the key', async () => {
  const used = async () =>
    (await send(server, { url: '/v1/usage' })).json<{ totals: { completion_tokens: number } }>().totals
      .completion_tokens;
  const before = await used();
  await generate({ n: 2 });
  expect((await used()) - before).toBe(16);
});

test('a mistake names the field, within sampling_params too', async () => {
  const response = await send(server, {
    url,
    body: { token_ids: [-1], output_mode: 'sound', sampling_params: { max_tokens: 0, top_p: 0, logprobs: -2 } },
  });
  expect(response.statusCode).toBe(422);
  expect(faults(response).sort()).toEqual([
    'body.output_mode literal_error',
    'body.sampling_params.logprobs greater_than_equal',
    'body.sampling_params.max_tokens greater_than_equal',
    'body.sampling_params.top_p greater_than',
    'body.token_ids.0 greater_than_equal',
  ]);
});

const refused = (name: string, sampling: object, fields: object, fault: string) =>
  test(`${name} is refused`, async () => {
    const response = await send(server, { url, body: body(sampling, fields) });
    expect([response.statusCode, faults(response)]).toEqual([422, [fault]]);
  });
const within = (field: string) => `body.sampling_params.${field} value_error`;
refused('an empty prompt', {}, { token_ids: [] }, 'body.token_ids value_error');
refused('no sampling_params', {}, { sampling_params: undefined }, 'body.sampling_params missing');
refused('a stop text without text', { detokenize: false, stop: 'a' }, {}, within('stop'));
refused('text without text', { detokenize: false }, { output_mode: 'text' }, 'body.output_mode value_error');
refused('a stream’s option without a stream', {}, { stream_options: { include_usage: true } }, 'body value_error');
refused('the prompt’s log-probabilities in a stream', { prompt_logprobs: 1 }, { stream: true }, 'body value_error');
refused('images', {}, { features: { mm_hashes: { image: ['a'] }, mm_placeholders: {} } }, 'body.features value_error');
refused('media', {}, { content_parts: [{ type: 'image_url', url: 'a' }] }, 'body.content_parts value_error');
refused('a cache from elsewhere', {}, { kv_transfer_params: { a: 1 } }, 'body.kv_transfer_params value_error');
refused('a cache in extra_args', { extra_args: { kv_transfer_params: { a: 1 } } }, {}, within('extra_args'));
refused('a sampling parameter beside the others', {}, { max_tokens: 5 }, 'body.max_tokens value_error');
refused('a field of the request among them', { stream: true }, {}, within('stream'));
refused('a text', {}, { prompt: 'Once' }, 'body.prompt value_error');
refused('a constraint of another server', { guided_json: {}, json_schema: { a: 1 } }, {}, within('json_schema'));
refused('an answer’s format', { response_format: { type: 'json_object' } }, {}, within('response_format'));
refused('tokens that are forced', { trace_decode_token_ids: [1] }, {}, within('trace_decode_token_ids'));
refused('a prompt that is cut', { truncate_prompt_tokens: 2 }, {}, within('truncate_prompt_tokens'));
refused('beam search', { use_beam_search: true }, {}, within('use_beam_search'));

test('what changes nothing is accepted and named; what asks for nothing is not', async () => {
  const { warnings } = await generate(
    { routed_experts_prompt_start: 4, reasoning_effort: 'low', return_token_ids: true, extra_args: { a: 1 } },
    { token_offsets: [[0, 1]] },
  );
  expect(warnings!.map((each) => each.split(' ')[0])).toEqual([
    'token_offsets',
    'sampling_params.routed_experts_prompt_start',
    'sampling_params.reasoning_effort',
    'sampling_params.return_token_ids',
    'sampling_params.extra_args',
  ]);
  const nothing = { kv_transfer_params: null, features: null, content_parts: null, reasoning_parser_kwargs: null };
  const none = { routed_experts_prompt_start: 0, flat_logprobs: false, stop: [], output_kind: null, extra_args: null };
  expect(await generate(none, nothing)).not.toHaveProperty('warnings');
});

runScenarios(
  () => server,
  [
    { name: 'an unknown token id', url, body: body({}, { token_ids: [99_999] }), status: 400, answer: { error: { param: 'token_ids' } } },
    { name: 'a prompt as long as the context', url, body: body({}, { token_ids: Array(CONTEXT_LENGTH).fill(1) }), status: 400, answer: { error: { code: 'context_length_exceeded', param: 'token_ids', message: containing('maximum context length') } } },
    { name: 'an unknown model', url, body: body({}, { model: 'nope' }), status: 404 },
    { name: 'a priority that has no effect', url, body: body({}, { priority: 1 }), status: 400, answer: { error: { param: 'priority' } } },
    { name: 'an unused field is named', url, body: body({}, { paint: 'blue' }), status: 200, answer: { warnings: [containing('paint')] } },
    { name: 'without a key', url, body: body(), headers: { authorization: 'Bearer nobody' }, status: 401 },
  ],
); // prettier-ignore
