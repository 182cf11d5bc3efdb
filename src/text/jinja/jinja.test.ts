// Templates of every feature, with the text that Jinja2 3.1 makes of them as Transformers configures it
// (python/golden/make_templates.py).
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parsePythonJson } from '../python-json.ts';
import { strftime } from '../strftime.ts';
import { TemplateError } from './errors.ts';
import { compileJinja, runJinja } from './jinja.ts';
import { str } from './texts.ts';

const fixture = parsePythonJson(
  readFileSync(new URL('../../../test/golden/fixtures/templates/features.json', import.meta.url), 'utf8'),
) as {
  now: string;
  variables: Record<string, unknown>;
  /** Null: Jinja2 refuses it, or it raises. */
  cases: [area: string, template: string, text: string | null][];
};

const functions = {
  raise_exception: () => {
    throw new TemplateError('raised');
  },
  strftime_now: (format: Parameters<typeof str>[0]) => strftime(new Date(fixture.now), str(format)),
};
const limits = { stepsMax: 200_000, sizeMax: 1_000_000, depthMax: 100 };

function render(template: string): string | null {
  try {
    return runJinja(compileJinja(template), fixture.variables, functions, { limits, marks: null });
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

describe.each([...new Set(fixture.cases.map(([area]) => area))])('%s', (area) => {
  test.each(fixture.cases.filter(([of]) => of === area).map(([, template, text]) => [template, text] as const))(
    '%j',
    (template, text) => {
      expect(render(template)).toBe(text);
    },
  );
});
