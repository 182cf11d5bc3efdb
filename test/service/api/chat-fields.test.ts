// Every field of a chat request is accepted, takes effect, and is refused with its place if out of range.
// A field of the schema without a row here fails the first test.
import { describe, expect, test } from 'vitest';
import { chatRequestSchema } from '#api/chat/chat-request';
import { createAsker, weather, CHAT_URL, type Fields, type Row } from './chat-asker.ts';
import { samplingRows } from './sampling-rows.ts';
import { CONTEXT_LENGTH } from '../../support/api/tiny-chat-model.ts';
import { BASE, chat, faults, shareTestServer, send } from '../../support/api/test-server.ts';

const server = await shareTestServer({ settings: { priorities: true } });

const asker = createAsker(() => server);
const { ask, text, prompt, id, differs } = asker;

const ROWS: Readonly<Record<string, Row>> = {
  ...samplingRows(asker, () => server),
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
  return_weight_versions: {
    works: async () => {
      expect((await ask({ return_weight_versions: true })).choices[0]).toHaveProperty('weight_versions');
      expect((await ask()).choices[0]).not.toHaveProperty('weight_versions');
    },
    wrong: [['x', 'body.return_weight_versions bool_parsing']],
  },
  echo: {
    works: async () => {
      const messages = [...chat().messages, { role: 'assistant', content: 'So' }];
      const answer = await ask({ messages, continue_final_message: true, echo: true });
      expect(answer.choices[0]!.message.content).toBe(`So${await text({ messages, continue_final_message: true })}`);
      expect(await text({ echo: true })).toBe(await text()); // a user's text is not part of an assistant's answer
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
      const response = await send(server, { url: CHAT_URL, body: chat({ stream: true }) });
      expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
      expect(response.body.endsWith('data: [DONE]\n\n')).toBe(true);
    },
    wrong: [['x', 'body.stream bool_parsing']],
  },
  stream_options: {
    works: async () => {
      const { body } = await send(server, { url: CHAT_URL, body: chat({ stream: true, stream_options: { include_usage: true } }) });
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
  truncation_side: {
    works: async () => {
      const whole = (await ask()).prompt_token_ids;
      const kept = await ask({ truncate_prompt_tokens: 5, truncation_side: 'right' });
      expect(kept.prompt_token_ids).toEqual(whole.slice(0, 5));
    },
    wrong: [['up', 'body.truncation_side literal_error']],
  },
  documents: {
    works: async () => void (await ask({ documents: [{ title: 'a', text: 'b' }] })), // a variable of templates: chat-template.test.ts
    wrong: [[[{ a: 1 }], 'body.documents.0.a string_type'], ['x', 'body.documents list_type']],
  },
  chat_template: {
    works: async () => void (await ask({ chat_template: null })), // in test/service/api/chat-template.test.ts
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
      [{ type: 'json' }, 'body.response_format.value value_error'],
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
      [{ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }, 'body.tool_choice.allowed_tools.tools too_short'],
      [{ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'unknown' } }] } }, 'body value_error'],
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
  thinking_token_budget: {
    works: async () => {
      const begun = [{ role: 'user', content: 'Hi' }, { role: 'assistant', content: '<think>' }];
      const asked = { messages: begun, continue_final_message: true, max_tokens: 6, logit_bias: { [id('</think>')]: -100 } };
      expect((await ask({ ...asked, thinking_token_budget: -1 })).choices[0]!.token_ids).not.toContain(id('</think>'));
      const { token_ids: ids, message } = (await ask({ ...asked, thinking_token_budget: 2 })).choices[0]!;
      expect(ids!.indexOf(id('</think>'))).toBe(2);
      expect(message.reasoning).not.toBeNull();
    },
    wrong: [[-2, 'body.thinking_token_budget greater_than_equal'], ['x', 'body.thinking_token_budget int_parsing']],
  },
  logprob_token_ids: {
    works: async () => {
      const listed = { logprobs: true, logprob_token_ids: [5, 9], return_tokens_as_token_ids: true };
      const { token_ids: ids, logprobs } = (await ask(listed)).choices[0]!;
      logprobs!.content.forEach(({ top_logprobs: top }, at) =>
        expect(new Set(top.map(({ token }) => token))).toEqual(new Set([ids![at], 5, 9].map((each) => `token_id:${each}`))),
      );
    },
    with: { logprobs: true },
    wrong: [[[-1], 'body.logprob_token_ids.0 greater_than_equal'], [Array(129).fill(1), 'body.logprob_token_ids too_long']],
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

test('every field of the schema has a row', () => {
  expect(Object.keys(ROWS).sort()).toEqual(Object.keys(chatRequestSchema.shape).sort());
});

describe.each(Object.entries(ROWS))('%s', (field, { works, wrong, with: others }) => {
  test('has its effect', works);
  test.each(wrong)('%j is refused', async (value, fault) => {
    const response = await send(server, { url: CHAT_URL, body: chat({ ...others, [field]: value }) });
    expect(response.statusCode, response.body).toBe(422);
    expect(faults(response)).toContain(fault);
  });
});
