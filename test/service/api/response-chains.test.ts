// Conversations that continue by previous_response_id, of random turns: the model reads what it would read if the client sent all items
// itself with the instructions and tools of the last request, as OpenAI documents it.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shareScriptedServer, type Script } from './scripted-engine.ts';
import { BASE, send } from '../../support/api/test-server.ts';

const script: Script = { text: '', asked: null };
const server = await shareScriptedServer(script);

type Item = Readonly<Record<string, unknown>>;
interface Turn {
  readonly said: readonly Item[];
  readonly answer: string;
  readonly fields: Item;
  readonly isCut: boolean;
}

const text = fc.constantFrom('Hi', '', ' ', ' two\n', 'Größe 🙂', '<think>x', '{"a": 1.0}', '</s>', 'a\r\nb');
const part = (type: string) => text.map((each) => ({ type, text: each }));
const user = fc.record(
  {
    type: fc.constant('message'),
    role: fc.constantFrom('user', 'user', 'user', 'system', 'developer'),
    content: fc.oneof(text, fc.array(part('input_text'), { minLength: 1, maxLength: 2 })),
  },
  { requiredKeys: ['role', 'content'] },
);
const thought = fc.record({
  type: fc.constant('reasoning'),
  id: fc.constant('rs_x'),
  summary: fc.constant([]),
  content: fc.array(part('reasoning_text'), { maxLength: 1 }),
});
const answered = fc.record(
  {
    type: fc.constant('message'),
    role: fc.constant('assistant'),
    content: fc.oneof(text, fc.array(part('output_text'), { minLength: 1, maxLength: 1 })),
    status: fc.constantFrom('completed', 'incomplete'),
  },
  { requiredKeys: ['role', 'content'] },
);
const called = fc.record({ name: fc.constantFrom('f', 'g'), arguments: fc.constantFrom('{}', '{"2": 1.0, "1": 2}') });
const tools = [{ type: 'function', name: 'f' }];

const turn: fc.Arbitrary<Turn> = fc.record({
  said: fc.array(fc.oneof({ weight: 4, arbitrary: user }, thought, answered), { minLength: 1, maxLength: 3 }),
  answer: fc
    .tuple(fc.option(text), fc.constantFrom('', 'It is 3.', ' so \n'), fc.array(called, { maxLength: 2 }))
    .map(([reasoning, words, calls]) =>
      [
        ...(reasoning === null ? [] : [`<think>\n${reasoning}\n</think>\n\n`]),
        words,
        ...calls.map((call) => `\n<tool_call>\n{"name": "${call.name}", "arguments": ${call.arguments}}\n</tool_call>`),
      ].join(''),
    ),
  fields: fc.record(
    { instructions: fc.constantFrom('Be brief.', '', 'Other.'), tools: fc.constant(tools) },
    { requiredKeys: [] },
  ),
  isCut: fc.boolean(),
});

interface Answer {
  readonly id: string;
  readonly output: readonly Item[];
}

/** Null: the conversation is too long. */
async function ask(body: Item): Promise<{ answer: Answer; prompt: string } | null> {
  const response = await send(server, { url: '/v1/responses', body: { model: BASE, max_output_tokens: 80, ...body } });
  if (response.body.includes('context_length_exceeded')) return null;
  expect(response.statusCode, response.body).toBe(200);
  const prompt = server.model.text.tokenizer.decode(script.asked!.promptTokens, { skipSpecialTokens: false });
  return { answer: response.json<Answer>(), prompt };
}

/** Results of all calls. */
const resultsOf = (output: readonly Item[]): Item[] =>
  output
    .filter(({ type }) => type === 'function_call')
    .map(({ call_id: id }) => ({ type: 'function_call_output', call_id: id, output: `of ${String(id).length}` }));

test('a chain of turns is the conversation of all its items', async () => {
  let continued = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 4 }), async (turns) => {
      let items: Item[] = [];
      let before: Answer | null = null;
      for (const { said, answer, fields, isCut } of turns) {
        script.text = answer;
        const own = [...resultsOf(before?.output ?? []), ...said];
        const settings = { ...fields, ...(isCut ? { max_output_tokens: 5 } : {}) };
        items = [...items, ...own];
        const whole = await ask({ ...settings, input: items, store: false });
        const chained = await ask({ ...settings, input: own, ...(before ? { previous_response_id: before.id } : {}) });
        expect(chained?.prompt).toBe(whole?.prompt);
        if (chained === null) return;
        continued += before ? 1 : 0;
        before = chained.answer;
        items = [...items, ...chained.answer.output];
      }
    }),
    { numRuns: 60, seed: 1 },
  );
  expect(continued).toBeGreaterThan(60);
});

test('the answer to a message that was cut is one message with it', async () => {
  const cut = { type: 'message', role: 'assistant', status: 'incomplete', content: 'One, two' };
  script.text = ', three.';
  const first = await ask({ input: [{ role: 'user', content: 'Count.' }, cut] });
  const next = await ask({ input: 'Go on.', previous_response_id: first!.answer.id });
  expect(next!.prompt).toContain('One, two, three.');
  await ask({ input: 'Again.', previous_response_id: next!.answer.id, instructions: 'Be brief.' });
  expect((await ask({ input: 'Again.', previous_response_id: next!.answer.id }))!.prompt).not.toContain('Be brief.');
});

test('images are refused by their place, wherever the conversation came from', async () => {
  const { answer } = (await ask({ input: 'Hi' }))!;
  const image = { role: 'user', content: [{ type: 'input_image', image_url: 'data:,' }] };
  const input = [{ role: 'user', content: 'x' }, image];
  const body = { model: BASE, input, previous_response_id: answer.id };
  const refused = await send(server, { url: '/v1/responses', body });
  expect(refused.statusCode).toBe(422);
  expect(refused.body).toContain('body.input.1.content.0.type: Value error, Parts of type input_image');
});
