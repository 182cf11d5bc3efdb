// Constraints on a chat answer: a response format, and tools that must, may or must not be called.
import { describe, expect, test } from 'vitest';
import { createAsker, parameters, weather, CHAT_URL, type Answer, type Fields } from './chat-asker.ts';
import { chat, faults, shareTestServer, send } from '../../support/api/test-server.ts';

interface StreamedChunk {
  choices: {
    delta: { content?: string | null; tool_calls?: { function: { name?: string; arguments?: string } }[] };
    finish_reason: string | null;
  }[];
}

const server = await shareTestServer({ settings: { priorities: true } });

const { ask, text, prompt, id } = createAsker(() => server);

describe('response_format', () => {
  const schema = { type: 'object', properties: { ok: { enum: [true] } }, required: ['ok'] };
  test.each([
    { type: 'json_schema', json_schema: { schema } },
    { type: 'json', value: schema },
    { type: 'json', schema },
    { type: 'json_object', schema },
    { type: 'json_object', value: schema },
  ])('%j is satisfied by the answer', async (response_format) => {
    expect(JSON.parse(await text({ response_format, max_tokens: 60 }))).toEqual({ ok: true });
  });

  test('yields to a forced call', async () => {
    const response_format = { type: 'json_schema', json_schema: { schema } };
    const answer = await ask({
      response_format,
      tools: [weather],
      tool_choice: 'required',
      parallel_tool_calls: false,
      max_tokens: 200,
    });
    expect(answer.choices[0]!.message.tool_calls).toHaveLength(1);
  });

  test.each([
    ['json_schema', { type: 'object' }, 'response_format'],
    ['grammar', 'root ::= "x"', 'structured_outputs'],
    ['guided_json', { type: 'object' }, 'structured_outputs'],
    ['guided_regex', 'x', 'structured_outputs'],
    ['guided_choice', ['x'], 'structured_outputs'],
    ['regex', 'x', 'structured_outputs'],
  ])('is spelt differently from %s, which is refused with the name to send', async (field, value, instead) => {
    const response = await send(server, { url: CHAT_URL, body: chat({ [field]: value }) });
    expect(response.statusCode).toBe(422);
    expect(faults(response)).toEqual([`body.${field} value_error`]);
    expect(response.json<{ error: { message: string } }>().error.message).toContain(`Send ${instead}`);
    for (const empty of [null, '', {}, []]) await ask({ [field]: empty });
  });
});

describe('integers beyond 2^53', () => {
  const DIGITS = '12345678901234567890';
  const exactly = (fields: Fields) =>
    send(server, { url: CHAT_URL, body: JSON.stringify(chat(fields)).replaceAll('"LONG"', DIGITS) });
  const said = async (value: unknown) => {
    const response = await exactly({ structured_outputs: { json: value }, max_tokens: 60 });
    return response.json<Answer>().choices[0]!.message.content;
  };

  test('and strings of as many digits are written as the schema lists them', async () => {
    expect(await said({ const: 'LONG' })).toBe(DIGITS);
    expect(await said({ enum: [DIGITS] })).toBe(`"${DIGITS}"`);
  });

  test('are enforced in the schema of a tool', async () => {
    const pick = { type: 'object', properties: { id: { const: 'LONG' } }, required: ['id'] };
    const tools = [{ type: 'function', function: { name: 'pick', parameters: pick } }];
    const response = await exactly({ tools, tool_choice: 'required', parallel_tool_calls: false, max_tokens: 200 });
    const [call] = response.json<Answer>().choices[0]!.message.tool_calls!;
    expect(call!.function.arguments).toContain(DIGITS);
  });

  test('are shown where they are refused', async () => {
    const response = await exactly({ user: 'LONG' });
    expect(faults(response)).toEqual(['body.user string_type']);
    expect(response.json()).toMatchObject({ detail: [{ input: DIGITS }] });
  });
});

describe('tools', () => {
  const strict = { type: 'function', function: { name: 'weather', strict: true, parameters } };
  const time = { type: 'function', function: { name: 'time', parameters: { type: 'object' } } };
  /** A model that starts a call whenever it is allowed to. */
  const eager = () => ({ logit_bias: { [id('<tool_call>')]: 100 }, parallel_tool_calls: false, max_tokens: 200 });
  const calls = async (fields: Fields) =>
    ((await ask({ ...eager(), ...fields })).choices[0]!.message.tool_calls ?? []).map((call) => call.function);

  test('that are strict are called under auto with arguments that match their schema', async () => {
    const [call] = await calls({ tools: [strict] });
    expect(call!.name).toBe('weather');
    expect(['Oslo', 'Rome']).toContain((JSON.parse(call!.arguments) as { city: string }).city);
    expect(await calls({ tools: [weather] })).toEqual([]); // what this model writes unconstrained
  });

  test('that are strict leave text unconstrained', async () => {
    expect(await text({ tools: [strict] })).toBe(await text({ tools: [strict], tool_choice: 'none' }));
  });

  describe('in addition to a response_format', () => {
    const schema = { type: 'object', properties: { ok: { enum: [true] } }, required: ['ok'] };
    const response_format = { type: 'json_schema', json_schema: { schema } };

    test.each([[weather], [strict]])('are called, or the answer has the format', async (tool) => {
      const asked = { tools: [tool], tool_choice: 'auto', response_format };
      const called = await ask({ ...eager(), ...asked });
      expect(called.choices[0]).toMatchObject({
        message: { content: null, tool_calls: [{ function: { name: 'weather' } }] },
        finish_reason: 'tool_calls',
      });
      const answered = await ask({ ...asked, logit_bias: { [id('{')]: 100 }, max_tokens: 200 }); // an unforced answer would be a call, too
      expect(JSON.parse(answered.choices[0]!.message.content!)).toEqual({ ok: true });
      expect(answered.choices[0]).toMatchObject({ finish_reason: 'stop' });
    });

    test('are called in a stream as well', async () => {
      const fields = { ...eager(), tools: [strict], response_format, temperature: 0 };
      const whole = (await ask(fields)).choices[0]!.message.tool_calls!;
      const streamed = await send(server, { url: CHAT_URL, body: chat({ ...fields, stream: true }) });
      const deltas = streamed.body
        .split('\n\n')
        .filter((line) => line.startsWith('data: {'))
        .flatMap((line) => (JSON.parse(line.slice(6)) as StreamedChunk).choices);
      const pieces = deltas.flatMap(({ delta }) => delta.tool_calls ?? []);
      expect(pieces.map((piece) => piece.function.name ?? '').join('')).toBe('weather');
      expect(pieces.map((piece) => piece.function.arguments ?? '').join('')).toBe(whole[0]!.function.arguments);
      expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe('');
      expect(deltas.at(-1)!.finish_reason).toBe('tool_calls');
    });

    test.each([
      ['response_format', { response_format: { type: 'json_schema', json_schema: { schema: { not: {} } } } }],
      ['tools', { tools: [{ type: 'function', function: { name: 'bad', strict: true, parameters: { not: {} } } }] }],
    ])('are refused with an error that says what is wrong: %s', async (param, wrong) => {
      const response = await send(server, {
        url: CHAT_URL,
        body: chat({ tools: [strict], response_format, ...wrong }),
      });
      expect(response.statusCode).toBe(422);
      expect(response.json()).toMatchObject({ error: { param } });
    });
  });

  test('listed in allowed_tools are called, and no others', async () => {
    const tools = [strict, time];
    const only = (name: string, mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name } }] },
    });
    for (const mode of ['auto', 'required'])
      for (const name of ['weather', 'time']) {
        const called = await calls({ tools, tool_choice: only(name, mode), max_tokens: 80 });
        expect(called.map((call) => call.name)).toEqual([name]);
      }
    expect(await prompt({ tools, tool_choice: only('time', 'auto') })).toContain('weather');
  });
});
