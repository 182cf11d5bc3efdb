import { fork } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import type { AppError } from '#domain/errors';
import { createChatTemplate } from '../chat-template.ts';
import type { RenderCall } from './template-process.ts';
import { createTemplateSandbox } from './template-sandbox.ts';

const sandbox = createTemplateSandbox({ renderMs: 1_000, heapMb: 64 });
afterAll(() => sandbox.close());

const request = { messages: [{ role: 'user', content: 'Hi' }], addGenerationPrompt: true };
const tokens = new Map([['bos_token', '<s>']]);
const by = (payer: string, signal = new AbortController().signal) => ({ payer, signal });
const render = (source: string, payer = 'a') => sandbox.render(source, tokens, request, by(payer));

const DOUBLING = "{% set ns = namespace(s='xx') %}{% for i in range(24) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}";

const honest =
  "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ 'assistant:' if add_generation_prompt }}";

test('an honest template renders the same as outside the sandbox', async () => {
  expect(await render(honest)).toBe(createChatTemplate({ default: honest }, tokens, systemClock).render(request));
});

test.each([
  ['loops in loops', '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}', /longer than 1 s|64 MB/],
  ['a string that doubles', "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}", /longer than|64 MB|characters|string length/],
  // These end a whole process, not only its thread: V8 aborts on too large a request.
  ['a split bomb', `${DOUBLING}{{ ns.s.split('x') | length }}`, /longer than|64 MB/],
  ['a long string turned round', `${DOUBLING}{{ ns.s[::-1] }}`, /longer than|64 MB/],
  ['a long string quoted', `${DOUBLING}{{ ns.s | tojson }}`, /longer than|64 MB/],
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

test('other requests are answered while one template never ends', async () => {
  const endless = render('{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}').catch(
    String,
  );
  const other = createTemplateSandbox();
  expect(await other.render(honest, tokens, request, by('a'))).toContain('user: Hi');
  expect(await endless).toContain('longer than 1 s');
  await other.close();
});

test('closing ends the process of a template that is being rendered, and no rendering starts afterwards', async () => {
  const closing = createTemplateSandbox({ renderMs: 60_000 });
  const ask = (source: string) => closing.render(source, tokens, request, by('a'));
  await ask(honest);
  const endless = ask('{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}');
  const [running, waiting] = [endless, ask(honest)].map((render) => render.catch((error: unknown) => error));
  await closing.close();
  for (const outcome of [await running, await waiting]) expect(outcome).toMatchObject({ code: 'engine_unavailable' });
});

test('a process ends when its server is gone, however busy it is', async () => {
  const child = fork(new URL('./template-process.ts', import.meta.url), [], { serialization: 'advanced' });
  const exited = once(child, 'exit');
  expect(await once(child, 'message')).toContain('ready');
  const source = '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}';
  const call: RenderCall = { source, namedTokens: tokens, request, outputLengthMax: 1_000, orphanMs: 500 };
  await promisify(child.send.bind(child) as (message: unknown, done: (error: Error | null) => void) => void)(call);
  child.disconnect();
  expect(await exited).toEqual([1, null]);
});

const ENDLESS = '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}';

test('a request after several endless templates of another client waits for one of them, and abandoned templates are not rendered', async () => {
  const ends: string[] = [];
  const leaving = new AbortController();
  const bombs = Array.from({ length: 32 }, async (_, i) => {
    const end = await sandbox
      .render(ENDLESS, tokens, request, by('a', leaving.signal))
      .catch((error: AppError) => error);
    ends.push(`bomb ${i}`);
    return end;
  });
  expect(await render(honest, 'b')).toContain('user: Hi');
  expect(ends).toEqual(['bomb 0']);
  leaving.abort();
  const [first, ...others] = await Promise.all(bombs);
  expect(first).toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('longer than 1 s') as string,
  });
  expect(others.filter((end) => (end as AppError).code === 'cancelled').length).toBeGreaterThanOrEqual(30);
});

test('a crowd of one payer gets errors that say when to come back', async () => {
  const small = createTemplateSandbox({ waitingOfOneMax: 1 });
  const outcomes = await Promise.allSettled(
    ['a', 'a', 'a', 'b'].map((payer) => small.render(honest, tokens, request, by(payer))),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
  expect(outcomes[2]).toMatchObject({ reason: { code: 'too_many_requests', retryAfterSeconds: 1 } });
  await small.close();
});
