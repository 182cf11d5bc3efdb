// Templates that requests bring: honest ones render as the model's own would, and hostile ones end soon, with a reason.
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock';
import { createChatTemplate } from './chat-template.ts';
import { renderRequestTemplate } from './request-template.ts';

const request = { messages: [{ role: 'user', content: 'Hi' }], addGenerationPrompt: true };
const tokens = new Map([['bos_token', '<s>']]);
const render = (source: string) => renderRequestTemplate(source, tokens, request);
const doubled = (times: number) =>
  `{% set ns = namespace(s='xx') %}{% for i in range(${times}) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}`;

const honest =
  "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ 'assistant:' if add_generation_prompt }}";

test('an honest template renders the same as the model’s own', () => {
  expect(render(honest)).toBe(createChatTemplate({ default: honest }, tokens, systemClock).render(request));
});

test.each([
  ['loops in loops', '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}', /steps/],
  ['a string that doubles', `${doubled(60)}{{ ns.s }}`, /characters and items/],
  ['a string times a number', "{{ ('x' * 1000000000)|length }}", /characters and items/],
  ['a list times a number', '{{ ([0] * 1000000000)|length }}', /characters and items/],
  ['a wide format', "{{ '%1000000000d' % 1 }}", /characters and items/],
  ['a wide format in braces', "{{ '{:1000000000}'.format(1) }}", /characters and items/],
  ['a long justification', "{{ 'x'.ljust(1000000000) }}{{ 'x'|center(1000000000) }}", /characters and items/],
  [
    'a split bomb',
    `${doubled(20)}{% for i in range(99) %}{{ ns.s.split('x')|length }}{% endfor %}`,
    /characters and items|steps/,
  ],
  [
    'a long string turned round',
    `${doubled(20)}{% for i in range(99) %}{% set y = ns.s[::-1] %}{% endfor %}`,
    /characters and items|steps/,
  ],
  [
    'a long string searched',
    `${doubled(20)}{% for i in range(9999) %}{% set y = ns.s.find('y') %}{% endfor %}`,
    /characters and items|steps/,
  ],
  ['a long string replaced', `${doubled(18)}{{ ns.s.replace('x', ns.s)|length }}`, /characters and items/],
  ['a long string joined', `${doubled(18)}{{ ns.s.join(ns.s)|length }}`, /characters and items|steps/],
  ['a long string indented', "{% set s = '\\n' * 100000 %}{{ s|indent(100000)|length }}", /characters and items/],
  [
    'a list that doubles',
    '{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}',
    /characters and items/,
  ],
  [
    'lists in lists that are written',
    '{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}',
    /characters and items/,
  ],
  [
    'lists in lists as JSON',
    '{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l|tojson }}',
    /characters and items/,
  ],
  [
    'lists in lists that are compared',
    '{% set ns = namespace(l=[1], k=[1]) %}{% for i in range(40) %}{% set ns.l = [ns.l, ns.l] %}{% set ns.k = [ns.k, ns.k] %}{% endfor %}{{ ns.l == ns.k }}',
    /steps|characters and items/,
  ],
  [
    'a deep list',
    '{% set ns = namespace(l=[1]) %}{% for i in range(90000) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}',
    /cannot be used/,
  ],
  ['a macro that calls itself', '{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}', /nested/],
  ['a power', '{{ 9 ** (9 ** 9) }}', /too large/],
  ['a list without end', '{{ range(1000000000) }}', /Range too big/],
  ['sorting', '{% for i in range(99) %}{% set y = range(99999)|sort %}{% endfor %}', /steps|characters and items/],
  ['no Jinja', '{% if %}', /not valid/],
  ['parentheses in parentheses', `{{ ${'('.repeat(9_999)}1${')'.repeat(9_999)} }}`, /nested/],
  ['blocks in blocks', '{% if 1 %}'.repeat(5_000), /nested/],
  ['a refusal', "{{ raise_exception('users only') }}", /users only/],
  ['a source without end', 'x'.repeat(300_000), /at most 65536/],
] as const)('%s is refused', (_, source, reason) => {
  expect(() => render(source)).toThrow(
    expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(reason) as string }),
  );
});
