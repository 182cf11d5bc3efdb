import { afterAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { createChatTemplate } from '../chat-template.ts';
import { createTemplateSandbox } from './template-sandbox.ts';

const sandbox = createTemplateSandbox({ renderMs: 1_000, heapMb: 64 });
afterAll(() => sandbox.close());

const request = { messages: [{ role: 'user', content: 'Hi' }], addGenerationPrompt: true };
const tokens = new Map([['bos_token', '<s>']]);
const render = (source: string) => sandbox.render(source, tokens, request, AbortSignal.timeout(20_000));

const honest =
  "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ 'assistant:' if add_generation_prompt }}";

test('an honest template gives what it gives outside', async () => {
  expect(await render(honest)).toBe(createChatTemplate({ default: honest }, tokens, systemClock).render(request));
});

test.each([
  ['loops in loops', '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}', /longer than 1 s|64 MB/],
  ['a string that doubles', "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}", /longer than|64 MB|characters|string length/],
  ['a macro that calls itself', '{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}', /cannot be used/],
  ['a list without end', '{{ range(1000000000) }}', /range of/],
  ['no Jinja', '{% if %}', /not valid/],
  ['a refusal', "{{ raise_exception('users only') }}", /users only/],
] as const)('%s is refused, and the next one is rendered', async (_, source, reason) => {
  await expect(render(source)).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringMatching(reason) as string });
  expect(await render(honest)).toContain('user: Hi');
}); // prettier-ignore

test('a source without end is refused before it is read', async () => {
  await expect(render('x'.repeat(300_000))).rejects.toMatchObject({ code: 'invalid_request', param: 'chat_template' });
});

test('a crowd is told to come back', async () => {
  const small = createTemplateSandbox({ waitingMax: 2 });
  const outcomes = await Promise.allSettled(
    [1, 2, 3].map(() => small.render(honest, tokens, request, AbortSignal.timeout(20_000))),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
  expect(outcomes[2]).toMatchObject({ reason: { code: 'too_many_requests', retryAfterSeconds: 1 } });
  await small.close();
});
