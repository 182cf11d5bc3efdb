// Every field of a chat request: accepted, effective, and refused with its place when out of range. A field of the schema
// without a row here fails the first test.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chatRequestSchema } from '#api/schema/chat-request';
import { CONTEXT_LENGTH } from './tiny-chat-model.ts';
import { BASE, chat, faults, openTestServer, send, type TestServer } from './test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await openTestServer({ settings: { priorities: true } });
});
afterAll(() => server.close());

const url = '/v1/chat/completions';

interface Logprob {
  token: string;
  logprob: number;
  top_logprobs: { token: string; logprob: number }[];
}

interface Answer {
  id: string;
  model: string;
  choices: {
    message: { role: string; content: string | null; reasoning: string | null; tool_calls?: { function: { name: string; arguments: string } }[] };
    logprobs: { content: Logprob[] } | null;
    finish_reason: string;
    stop_reason: string | number | null;
    token_ids: number[] | null;
  }[];
  prompt_token_ids: number[];
  prompt_logprobs: (Record<string, { rank: number }> | null)[] | null;
  usage: { prompt_tokens: number; completion_tokens: number; prompt_tokens_details: { cached_tokens: number } };
} // prettier-ignore

type Fields = Readonly<Record<string, unknown>>;

/** Greedy, with token ids, unless the fields say otherwise. */
async function ask(fields: Fields = {}): Promise<Answer> {
  const response = await send(server, { url, body: chat({ temperature: 0, return_token_ids: true, ...fields }) });
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}
const tokens = async (fields: Fields = {}) => (await ask(fields)).choices[0]!.token_ids!;
const text = async (fields: Fields = {}) => (await ask(fields)).choices[0]!.message.content!;
const prompt = async (fields: Fields = {}) =>
  server.model.text.tokenizer.decode((await ask(fields)).prompt_token_ids, { skipSpecialTokens: false });
const id = (word: string) => server.model.text.tokenizer.encode(word)[0]!;
const eos = () => server.model.text.eosTokenIds[0]!;

interface Row {
  /** Says what the field did; throws if it did nothing. */
  readonly works: () => Promise<void>;
  /** Values that are refused, with `loc type` of what is said. */
  readonly wrong: readonly (readonly [value: unknown, fault: string])[];
  /** Fields that must come with it. */
  readonly with?: Fields;
}

const parameters = { type: 'object', properties: { city: { enum: ['Oslo', 'Rome'] } }, required: ['city'] };
const weather = { type: 'function', function: { name: 'weather', parameters } };
const differs =
  (field: Fields, base: Fields = {}) =>
  async () =>
    expect(await tokens({ ...base, ...field })).not.toEqual(await tokens(base));
const sampled = { temperature: 1.3, max_tokens: 24 };

const ROWS: Readonly<Record<string, Row>> = {
  model: {
    works: async () => expect((await ask({ model: '' })).model).toBe(BASE),
    wrong: [[5, 'body.model string_type']],
  },
  messages: {
    works: differs({ messages: [{ role: 'user', content: 'Another question?' }] }),
    wrong: [
      [null, 'body.messages list_type'],
      [[], 'body.messages too_short'],
      [[{ role: 'user' }], 'body.messages.0.content missing'],
    ],
  },
  n: {
    works: async () => expect((await ask({ ...sampled, n: 3 })).choices).toHaveLength(3),
    wrong: [[0, 'body.n greater_than_equal'], [129, 'body.n less_than_equal'], [1.5, 'body.n int_from_float']],
  },
  temperature: {
    works: differs({ temperature: 2 }, { max_tokens: 30 }),
    wrong: [[-0.1, 'body.temperature greater_than_equal'], ['x', 'body.temperature float_parsing']],
  },
  top_p: {
    works: async () => expect(await tokens({ ...sampled, top_p: 1e-9 })).toEqual(await tokens({ max_tokens: 24 })),
    wrong: [[0, 'body.top_p greater_than'], [1.1, 'body.top_p less_than_equal']],
  },
  top_k: {
    works: async () => expect(await tokens({ ...sampled, top_k: 1 })).toEqual(await tokens({ max_tokens: 24 })),
    wrong: [[-2, 'body.top_k greater_than_equal']],
  },
  min_p: {
    works: async () => expect(await tokens({ ...sampled, min_p: 1 })).toEqual(await tokens({ max_tokens: 24 })),
    wrong: [[-0.1, 'body.min_p greater_than_equal'], [1.1, 'body.min_p less_than_equal']],
  },
  frequency_penalty: {
    works: differs({ frequency_penalty: 2 }, { max_tokens: 60 }),
    wrong: [[2.1, 'body.frequency_penalty less_than_equal'], [-2.1, 'body.frequency_penalty greater_than_equal']],
  },
  presence_penalty: {
    works: differs({ presence_penalty: 2 }, { max_tokens: 60 }),
    wrong: [[3, 'body.presence_penalty less_than_equal'], [-3, 'body.presence_penalty greater_than_equal']],
  },
  repetition_penalty: {
    works: async () => {
      const ids = await tokens({ repetition_penalty: 50, max_tokens: 20 });
      expect(new Set(ids).size).toBe(20);
    },
    wrong: [[0, 'body.repetition_penalty greater_than']],
  },
  logit_bias: {
    works: async () => expect((await tokens({ logit_bias: { [id('a')]: 1000 } }))[0]).toBe(id('a')),
    wrong: [[{ foo: 1 }, 'body.logit_bias.foo value_error'], [{ 1: 'x' }, 'body.logit_bias.1 float_parsing']],
  },
  allowed_token_ids: {
    works: async () => expect(new Set(await tokens({ allowed_token_ids: [id('a')] }))).toEqual(new Set([id('a')])),
    wrong: [[[], 'body.allowed_token_ids too_short'], [[-1], 'body.allowed_token_ids.0 greater_than_equal']],
  },
  bad_words: {
    works: async () => {
      const word = server.model.text.tokenizer.tokenText((await tokens())[0]!);
      expect((await text({ bad_words: [word] })).startsWith(word)).toBe(false);
    },
    wrong: [['a', 'body.bad_words list_type'], [[''], 'body.bad_words.0 string_too_short']],
  },
  seed: {
    works: async () => {
      expect(await tokens({ ...sampled, seed: 5 })).toEqual(await tokens({ ...sampled, seed: 5 }));
      expect(await tokens({ ...sampled, seed: 5 })).not.toEqual(await tokens({ ...sampled, seed: 6 }));
    },
    wrong: [['x', 'body.seed int_parsing'], [1.5, 'body.seed int_from_float']],
  },
  use_beam_search: {
    works: async () => {
      const { choices } = await ask({ use_beam_search: true, n: 3, logprobs: true, max_tokens: 5 });
      const sums = choices.map(({ logprobs }) => logprobs!.content.reduce((sum, each) => sum + each.logprob, 0));
      const greedy = (await ask({ logprobs: true, max_tokens: 5 })).choices[0]!.logprobs!.content;
      expect(sums).toEqual(sums.toSorted((a, b) => b - a));
      expect(sums[0]).toBeGreaterThanOrEqual(greedy.reduce((sum, each) => sum + each.logprob, 0) - 1e-5);
      expect(new Set(choices.map(({ token_ids: ids }) => ids!.join())).size).toBe(3);
    },
    wrong: [['maybe', 'body.use_beam_search bool_parsing'], [null, 'body.use_beam_search bool_type']],
  },
  length_penalty: {
    works: async () => {
      // Beams of unequal length: with a large penalty the long ones win, with a negative one those that end at once.
      const beams = { use_beam_search: true, n: 2, max_tokens: 6, stop_token_ids: await ends() };
      const [long, short] = await Promise.all([5, -5].map((length_penalty) => tokens({ ...beams, length_penalty })));
      expect(long!.length).toBeGreaterThan(short!.length);
    },
    wrong: [['x', 'body.length_penalty float_parsing'], [null, 'body.length_penalty float_type']],
  },
  logits_processors: {
    works: async () => void (await ask({ logits_processors: [] })),
    wrong: [
      [['some.module'], 'body.logits_processors value_error'],
      [[{ qualname: 'a', extra: 1 }], 'body.logits_processors.0 value_error'],
    ],
  },
  max_tokens: {
    works: async () => expect(await tokens({ max_tokens: 3 })).toHaveLength(3),
    wrong: [[0, 'body.max_tokens greater_than_equal']],
  },
  max_completion_tokens: {
    works: async () => expect(await tokens({ max_completion_tokens: 2 })).toHaveLength(2),
    wrong: [[-1, 'body.max_completion_tokens greater_than_equal']],
  },
  min_tokens: {
    works: async () => {
      const stop_token_ids = [(await tokens())[2]!];
      expect((await tokens({ stop_token_ids })).length).toBeLessThanOrEqual(3);
      expect((await tokens({ stop_token_ids, min_tokens: 6 })).length).toBeGreaterThanOrEqual(6);
    },
    wrong: [[-1, 'body.min_tokens greater_than_equal'], [null, 'body.min_tokens int_type']],
  },
  stop: {
    works: async () => {
      const stop = (await text()).slice(4, 6);
      const { message, stop_reason: reason } = (await ask({ stop: [stop] })).choices[0]!;
      expect(message.content).not.toContain(stop);
      expect(reason).toBe(stop);
    },
    wrong: [['', 'body.stop string_too_short'], [[''], 'body.stop.0 string_too_short']],
  },
  stop_token_ids: {
    works: async () => {
      const [, second] = await tokens();
      const { finish_reason, stop_reason } = (await ask({ stop_token_ids: [second] })).choices[0]!;
      expect({ finish_reason, stop_reason }).toEqual({ finish_reason: 'stop', stop_reason: second });
    },
    wrong: [[['a'], 'body.stop_token_ids.0 int_parsing'], [5, 'body.stop_token_ids list_type']],
  },
  include_stop_str_in_output: {
    works: async () => {
      const stop = (await text()).slice(4, 6);
      expect((await text({ stop, include_stop_str_in_output: true })).endsWith(stop)).toBe(true);
      const [, second] = await tokens();
      const kept = await text({ stop_token_ids: [second], include_stop_str_in_output: true });
      expect(kept).not.toBe(await text({ stop_token_ids: [second] }));
    },
    wrong: [['x', 'body.include_stop_str_in_output bool_parsing']],
  },
  ignore_eos: {
    works: async () => {
      const toEos = { logit_bias: { [eos()]: 100 }, max_tokens: 5 };
      expect((await ask(toEos)).choices[0]!.finish_reason).toBe('stop');
      const { finish_reason, token_ids } = (await ask({ ...toEos, ignore_eos: true })).choices[0]!;
      expect({ finish_reason, token_ids }).toEqual({ finish_reason: 'length', token_ids: Array(5).fill(eos()) });
    },
    wrong: [[3, 'body.ignore_eos bool_parsing']],
  },
  logprobs: {
    works: async () => {
      expect((await ask({ logprobs: true })).choices[0]!.logprobs!.content).toHaveLength(8);
      expect((await ask()).choices[0]!.logprobs).toBeNull();
    },
    wrong: [['x', 'body.logprobs bool_parsing']],
  },
  top_logprobs: {
    works: async () =>
      expect((await ask({ logprobs: true, top_logprobs: 4 })).choices[0]!.logprobs!.content[0]!.top_logprobs).toHaveLength(4),
    wrong: [[-2, 'body value_error'], ['x', 'body.top_logprobs int_parsing']],
    with: { logprobs: true },
  },
  prompt_logprobs: {
    works: async () => {
      const { prompt_logprobs: all, prompt_token_ids: ids } = await ask({ prompt_logprobs: 2 });
      expect(all).toHaveLength(ids.length);
      expect(all![0]).toBeNull();
      all!.slice(1).forEach((map, i) => {
        const ranks = Object.values(map!).map(({ rank }) => rank);
        expect(map).toHaveProperty(String(ids[i + 1]));
        expect(ranks).toEqual(expect.arrayContaining([1, 2]));
        expect(ranks.length).toBeLessThanOrEqual(3);
      });
      expect(Object.keys((await ask({ prompt_logprobs: 0 })).prompt_logprobs![1]!)).toHaveLength(1);
    },
    wrong: [[-2, 'body value_error'], ['x', 'body.prompt_logprobs int_parsing']],
  },
  return_tokens_as_token_ids: {
    works: async () => {
      const { logprobs, token_ids: ids } = (await ask({ logprobs: true, return_tokens_as_token_ids: true })).choices[0]!;
      expect(logprobs!.content.map(({ token }) => token)).toEqual(ids!.map((each) => `token_id:${each}`));
    },
    wrong: [['x', 'body.return_tokens_as_token_ids bool_parsing']],
  },
  return_token_ids: {
    works: async () => expect((await ask({ return_token_ids: false })).choices[0]!.token_ids).toBeNull(),
    wrong: [['x', 'body.return_token_ids bool_parsing']],
  },
  echo: {
    works: async () => {
      const answer = await ask({ echo: true });
      expect(answer.choices[0]!.message.content).toBe(`Say something.${await text()}`);
      expect(answer.prompt_logprobs).toHaveLength(answer.prompt_token_ids.length);
    },
    wrong: [['x', 'body.echo bool_parsing'], [null, 'body.echo bool_type']],
  },
  skip_special_tokens: {
    works: async () => {
      const special = { logit_bias: { [id('<|im_start|>')]: 100 } };
      expect(await text(special)).toBe('');
      expect(await text({ ...special, skip_special_tokens: false })).toBe('<|im_start|>'.repeat(8));
    },
    wrong: [['x', 'body.skip_special_tokens bool_parsing']],
  },
  spaces_between_special_tokens: {
    works: async () =>
      expect(await text({ logit_bias: { [id('<|im_start|>')]: 100 }, skip_special_tokens: false, spaces_between_special_tokens: false })).toBe('<|im_start|>'.repeat(8)),
    wrong: [['x', 'body.spaces_between_special_tokens bool_parsing']],
  },
  include_reasoning: {
    works: async () => {
      const thinking = { structured_outputs: { regex: '<think>hm</think>yes' }, max_tokens: 40, logprobs: true };
      const shown = (await ask(thinking)).choices[0]!;
      expect(shown.message).toMatchObject({ reasoning: 'hm', content: 'yes' });
      const hidden = await ask({ ...thinking, include_reasoning: false });
      expect(hidden.choices[0]!.message).toMatchObject({ reasoning: null, content: 'yes' });
      expect(hidden.choices[0]!.logprobs!.content.length).toBeLessThan(shown.logprobs!.content.length);
      expect(hidden.usage.completion_tokens).toBe(shown.logprobs!.content.length);
    },
    wrong: [['x', 'body.include_reasoning bool_parsing']],
  },
  stream: {
    works: async () => {
      const response = await send(server, { url, body: chat({ stream: true }) });
      expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
      expect(response.body.endsWith('data: [DONE]\n\n')).toBe(true);
    },
    wrong: [['x', 'body.stream bool_parsing']],
  },
  stream_options: {
    works: async () => {
      const { body } = await send(server, { url, body: chat({ stream: true, stream_options: { include_usage: true } }) });
      expect(body).toContain('"choices":[],"usage"');
    },
    wrong: [[5, 'body.stream_options dict_type'], [{ include_usage: 'x' }, 'body.stream_options.include_usage bool_parsing']],
    with: { stream: true },
  },
  add_generation_prompt: {
    works: async () => {
      expect((await prompt()).endsWith('assistant\n')).toBe(true);
      expect((await prompt({ add_generation_prompt: false })).trimEnd().endsWith('<|im_end|>')).toBe(true);
      expect((await ask({ add_generation_prompt: false })).choices[0]!.message.role).toBe('user');
    },
    wrong: [['x', 'body.add_generation_prompt bool_parsing']],
  },
  continue_final_message: {
    works: async () => {
      const messages = [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: 'The answer is' }];
      expect((await prompt({ messages, continue_final_message: true })).endsWith('The answer is')).toBe(true);
    },
    wrong: [['x', 'body.continue_final_message bool_parsing']],
  },
  add_special_tokens: {
    works: async () => void (await ask({ add_special_tokens: true })), // this tokenizer adds none; see tokenizer.test.ts
    wrong: [['x', 'body.add_special_tokens bool_parsing']],
  },
  truncate_prompt_tokens: {
    works: async () => {
      const whole = (await ask()).prompt_token_ids;
      expect((await ask({ truncate_prompt_tokens: 5 })).prompt_token_ids).toEqual(whole.slice(-5));
      const long = { messages: [{ role: 'user', content: 'word '.repeat(700) }], truncate_prompt_tokens: -1 };
      expect((await ask(long)).prompt_token_ids).toHaveLength(CONTEXT_LENGTH - 8);
    },
    wrong: [[-2, 'body.truncate_prompt_tokens greater_than_equal']],
  },
  documents: {
    works: async () => void (await ask({ documents: [{ title: 'a', text: 'b' }] })), // a variable of templates: prompt.test.ts
    wrong: [[[{ a: 1 }], 'body.documents.0.a string_type'], ['x', 'body.documents list_type']],
  },
  chat_template: {
    works: async () => void (await ask({ chat_template: null })), // in test/api/chat-template.test.ts
    wrong: [[5, 'body.chat_template string_type']],
  },
  chat_template_kwargs: {
    works: async () => expect(await prompt({ chat_template_kwargs: { add_generation_prompt: false } })).not.toContain('assistant'),
    wrong: [['x', 'body.chat_template_kwargs dict_type']],
  },
  reasoning_effort: {
    works: async () => expect(await prompt({ reasoning_effort: 'none' })).toContain('</think>'),
    wrong: [['huge', 'body.reasoning_effort literal_error']],
  },
  mm_processor_kwargs: {
    works: async () => void (await ask({ mm_processor_kwargs: {} })),
    wrong: [[{ a: 1 }, 'body.mm_processor_kwargs value_error'], ['x', 'body.mm_processor_kwargs dict_type']],
  },
  response_format: {
    works: async () => {
      const schema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'], additionalProperties: false };
      const answer = await text({ response_format: { type: 'json_schema', json_schema: { name: 'x', schema } }, max_tokens: 200 });
      expect(typeof (JSON.parse(answer) as { ok: unknown }).ok).toBe('boolean');
    },
    wrong: [
      [{ type: 'xml' }, 'body.response_format.type literal_error'],
      [{ type: 'json_schema' }, 'body.response_format.json_schema value_error'],
      [{ type: 'json_schema', json_schema: { schema: {} } }, 'body.response_format.json_schema.name missing'],
      [{ type: 'json_schema', json_schema: { name: 'a', schema: { type: 'nothing' } } }, 'body.response_format value_error'],
    ],
  },
  structured_outputs: {
    works: async () => {
      const answer = (structured_outputs: Fields) => text({ structured_outputs, max_tokens: 80 });
      expect(['yes', 'no']).toContain(await answer({ choice: ['yes', 'no'] }));
      expect(await answer({ regex: '[ab]{3}' })).toMatch(/^[ab]{3}$/);
      expect(await answer({ grammar: 'root ::= "x" ("y" | "z")' })).toMatch(/^x[yz]$/);
      expect(await answer({ grammar: 'start: "x" REST\nREST: /[yz]/' })).toMatch(/^x[yz]$/);
      const schema = { type: 'object', properties: { a: { enum: [1, 2] } }, required: ['a'], additionalProperties: false };
      expect(JSON.parse(await answer({ json: schema, disable_any_whitespace: true }))).toHaveProperty('a');
      const tag = { structures: [{ begin: '<n>', schema: { enum: [7] }, end: '</n>' }], triggers: ['<n>'] };
      const tagged = await text({ structured_outputs: { structural_tag: JSON.stringify(tag) }, max_tokens: 30, logit_bias: { [id('<')]: 30 } });
      expect(tagged).not.toMatch(/<n>[^7]/);
    },
    wrong: [
      [{}, 'body.structured_outputs value_error'],
      [{ json: {}, regex: 'a' }, 'body value_error'],
      [{ regex: '(' }, 'body.structured_outputs value_error'],
      [{ grammar: '' }, 'body.structured_outputs value_error'],
      [{ json: '{' }, 'body.structured_outputs value_error'],
      [{ choice: [] }, 'body.structured_outputs.choice too_short'],
    ],
  },
  tools: {
    works: async () => expect(await prompt({ tools: [weather] })).toContain('weather'),
    wrong: [[[{ type: 'function', function: {} }], 'body.tools.0.function.name missing'], [5, 'body.tools list_type']],
  },
  tool_choice: {
    works: async () => {
      for (const tool_choice of ['required', { type: 'function', function: { name: 'weather' } }]) {
        const { message, finish_reason } = (await ask({ tools: [weather], tool_choice, max_tokens: 200 })).choices[0]!;
        const { name, arguments: args } = message.tool_calls![0]!.function;
        expect(name).toBe('weather');
        expect(['Oslo', 'Rome']).toContain((JSON.parse(args) as { city: string }).city);
        expect(message.content).toBeNull();
        expect(finish_reason).toBe(tool_choice === 'required' ? 'tool_calls' : 'stop');
      }
    },
    wrong: [
      ['sometimes', 'body.tool_choice.str literal_error'],
      [{ type: 'function', function: { name: 'unknown' } }, 'body value_error'],
    ],
    with: { tools: [weather] },
  },
  parallel_tool_calls: {
    works: async () => {
      const forced = { tools: [weather], tool_choice: 'required', parallel_tool_calls: false, max_tokens: 200 };
      expect((await ask(forced)).choices[0]!.message.tool_calls).toHaveLength(1);
    },
    wrong: [['x', 'body.parallel_tool_calls bool_parsing']],
  },
  priority: {
    works: async () => void (await ask({ priority: 3 })), // the order is in scheduler.test.ts
    wrong: [['x', 'body.priority int_parsing'], [null, 'body.priority int_type']],
  },
  request_id: {
    works: async () => expect((await ask({ request_id: 'mine' })).id).toBe('chatcmpl-mine'),
    wrong: [[5, 'body.request_id string_type']],
  },
  cache_salt: {
    works: async () => {
      const cached = async (cache_salt?: string) =>
        (await ask({ cache_salt, messages: [{ role: 'user', content: 'A salted question.' }] })).usage.prompt_tokens_details.cached_tokens;
      expect(await cached('a')).toBe(0);
      expect(await cached('b')).toBe(0);
      expect(await cached('a')).toBeGreaterThan(0);
      expect(await cached()).toBe(0);
    },
    wrong: [['', 'body value_error'], [5, 'body value_error']],
  },
  user: {
    works: async () => void (await ask({ user: 'somebody' })),
    wrong: [[5, 'body.user string_type']],
  },
  kv_transfer_params: {
    works: async () => void (await ask({ kv_transfer_params: null })),
    wrong: [[{ a: 1 }, 'body.kv_transfer_params value_error']],
  },
  vendor_xargs: {
    works: async () => void (await ask({ vendor_xargs: { a: 1, b: 'x', c: [1, 'y'] } })),
    wrong: [['x', 'body.vendor_xargs dict_type']],
  },
  vllm_xargs: {
    works: async () => void (await ask({ vllm_xargs: { a: 1 } })),
    wrong: [['x', 'body.vllm_xargs dict_type']],
  },
}; // prettier-ignore

/** The likeliest second tokens: one of them ends a beam early. */
async function ends(): Promise<number[]> {
  const [first] = (await ask({ logprobs: true, top_logprobs: 4, return_tokens_as_token_ids: true })).choices;
  return first!.logprobs!.content[1]!.top_logprobs.slice(0, 2).map(({ token }) => Number(token.split(':')[1]));
}

test('every field of the schema has a row', () => {
  expect(Object.keys(ROWS).sort()).toEqual(Object.keys(chatRequestSchema.shape).sort());
});

describe.each(Object.entries(ROWS))('%s', (field, { works, wrong, with: others }) => {
  test('has its effect', works);
  test.each(wrong)('%j is refused', async (value, fault) => {
    const response = await send(server, { url, body: chat({ ...others, [field]: value }) });
    expect(response.statusCode, response.body).toBe(422);
    expect(faults(response)).toContain(fault);
  });
});
