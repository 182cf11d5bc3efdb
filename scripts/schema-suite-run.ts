// Runs the cases of the JSON-Schema-Test-Suite through the constraint engine, byte by byte, with the smallest vocabulary. Does not know
// which differences are intended.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseExactJson, stringifyExactJson } from '#base/exact-json';
import { isObject } from '#base/is-object';
import { AppError } from '#domain/errors';
import { createConstraintEngine, type CompiledConstraint } from '#grammar/constraint-engine';

const DRAFTS = { draft7: 'http://json-schema.org/draft-07/schema#', 'draft2020-12': null } as const;
const EOS = 256;
const vocabulary = {
  bytes: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  offsets: Uint32Array.from({ length: 258 }, (_, i) => Math.min(i, 256)),
};

export interface SuiteCase {
  /** Draft, file and description. */
  readonly name: string;
  readonly schema: unknown;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

export interface Difference {
  readonly name: string;
  /** `narrower`: valid, but not accepted; `wrong`: invalid, but accepted. */
  readonly outcome: 'refused' | 'narrower' | 'wrong';
  readonly detail: string;
}

/** `root` contains `tests/draft7` or `draft7`. */
export function readSuite(root: string): SuiteCase[] {
  const tests = existsSync(join(root, 'tests')) ? join(root, 'tests') : root;
  return Object.entries(DRAFTS).flatMap(([draft, dialect]) =>
    readdirSync(join(tests, draft))
      .filter((file) => file.endsWith('.json'))
      .sort()
      .flatMap((file) => {
        const cases = parseExactJson(readFileSync(join(tests, draft, file), 'utf8')) as Case[];
        return cases.map(({ description, schema, tests: all }) => ({
          name: `${draft}/${file.slice(0, -5)}: ${description}`,
          schema: dialect !== null && isObject(schema) ? { $schema: dialect, ...schema } : schema,
          tests: all,
        }));
      }),
  );
}
type Case = { description: string; schema: unknown; tests: SuiteCase['tests'] };

export function runSuite(cases: readonly SuiteCase[]) {
  const engine = createConstraintEngine({ vocabulary, vocabSize: 300, stopTokenIds: [EOS] });
  const differences: Difference[] = [];
  let [instances, accepted] = [0, 0];
  for (const { name, schema, tests } of cases) {
    const compiled = compile(schema);
    if (typeof compiled === 'string') {
      // A schema that nothing satisfies is refused, which is correct.
      if (/no value satisfies the schema/.test(compiled) && tests.every(({ valid }) => !valid)) {
        instances += tests.length;
        accepted += tests.length;
      } else differences.push({ name, outcome: 'refused', detail: compiled });
      continue;
    }
    for (const { description, data, valid } of tests) {
      instances++;
      const text = canonical(data, namesIn(schema));
      if (accepts(compiled, text) === valid) accepted++;
      else
        differences.push({
          name: `${name}: ${description}`,
          outcome: valid ? 'narrower' : 'wrong',
          detail: text.slice(0, 200),
        });
    }
  }
  return { cases: cases.length, instances, accepted, differences };

  /** The reason if it is refused. */
  function compile(schema: unknown): CompiledConstraint | string {
    try {
      const source = stringifyExactJson(schema);
      return engine.compile({
        kind: 'json_schema',
        source,
        anyWhitespace: true,
        whitespacePattern: null,
        strict: false,
      });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return error.message;
    }
  }
}

function accepts(compiled: CompiledConstraint, source: string): boolean {
  const text = compiled.begin();
  return [...Buffer.from(source)].every((byte) => text.accept(byte)) && text.accept(EOS);
}

/** Keys that the schema names come first, in the order of the schema; others come after all required ones. */
export function canonical(data: unknown, named: ReadonlyMap<string, number>): string {
  const place = (key: string): number => named.get(key) ?? Infinity;
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, part]) => [key, sorted(part)] as const);
    const behind = entries.filter(([key]) => !named.has(key));
    return Object.fromEntries([
      ...entries.filter(([key]) => named.has(key)).sort(([a], [b]) => place(a) - place(b)),
      ...behind,
    ]);
  };
  return stringifyExactJson(sorted(data));
}

/** Every text in the schema, by its first position. */
export function namesIn(schema: unknown, names = new Map<string, number>()): Map<string, number> {
  const add = (name: string) => void (names.has(name) || names.set(name, names.size));
  if (typeof schema === 'string') add(schema);
  else if (Array.isArray(schema)) for (const each of schema) namesIn(each, names);
  else if (isObject(schema))
    for (const [key, value] of Object.entries(schema)) {
      add(key);
      namesIn(value, names);
    }
  return names;
}
