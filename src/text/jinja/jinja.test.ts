// Templates of every feature, with the text that Jinja2 3.1 makes of them as Transformers configures it
// (python/golden/make_templates.py).
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parsePythonJson } from '../python-json.ts';
import { strftime } from '../strftime.ts';
import { TemplateError } from './errors.ts';
import { compileJinja, runJinja, type Program } from './jinja.ts';

const read = (name: string) =>
  parsePythonJson(
    readFileSync(new URL(`../../../test/support/golden/fixtures/templates/${name}.json`, import.meta.url), 'utf8'),
  ) as Map<string, unknown>;
const fixture = read('features');
const families = read('families');
const now = new Date(fixture.get('now') as string);
const variables = Object.fromEntries(fixture.get('variables') as Map<string, unknown>);
const requests = families.get('variables') as Map<string, unknown>[];
/** Null: Jinja2 refuses it, or it raises. */
const cases = fixture.get('cases') as [area: string, template: string, text: string | null][];

const functions = {
  raise_exception: () => {
    throw new TemplateError('raised');
  },
  strftime_now: (format: string) => strftime(now, format),
};
const limits = { stepsMax: 200_000, sizeMax: 1_000_000, depthMax: 100 };

const render = (template: string): string | null => orNull(() => run(compileJinja(template), variables));

const run = (program: Program, given: Readonly<Record<string, unknown>>): string =>
  runJinja(program, given, functions, { limits, marks: null });

function orNull(made: () => string): string | null {
  try {
    return made();
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

describe.each([...new Set(cases.map(([area]) => area))])('%s', (area) => {
  test.each(cases.filter(([of]) => of === area).map(([, template, text]) => [template, text] as const))(
    '%j',
    (template, text) => {
      expect(render(template)).toBe(text);
    },
  );
});

/** As make_templates.py makes it; with a family and a number, that prints the text. */
const digest = (text: string | null): string =>
  text === null ? 'refused' : createHash('sha256').update(text).digest('hex').slice(0, 12);

test.each(families.get('cases') as [name: string, template: string, digests: string][])(
  'the structure of %s, with each request',
  (_, template, digests) => {
    const program = compileJinja(template);
    const texts = requests.map((given) => orNull(() => run(program, Object.fromEntries(given))));
    const wrong = digests
      .split(' ')
      .flatMap((wanted, i) => (digest(texts[i]!) === wanted ? [] : [{ i, text: texts[i] }]));
    expect(wrong).toEqual([]);
  },
);

test.each(['{{ [name|e] }}', "{{ {'a': name|safe} }}", '{{ (name|e, 1) }}'])(
  '%s is refused: Python would write Markup',
  (template) => {
    expect(() => compileJinja(template)).toThrow(/put into a list/);
  },
);
