// Types that a generator makes for TypeScript from the API's description: the main objects have the names that the description gives
// them, and the compiler takes the answers in the description as these objects, but nothing else. For Python: test/python/clients.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MAIN_OBJECTS } from '../../support/clients/main-objects.ts';

interface Content {
  readonly schema?: { readonly $ref?: string };
  readonly example?: unknown;
}
type Operation = {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Content>> }>>;
};
type Description = OpenAPI3 & { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

let directory: string;
let description: Description;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'whetstone-types-'));
  description = JSON.parse(
    await readFile(new URL('../../../docs/openapi.json', import.meta.url), 'utf8'),
  ) as Description;
  const types = await openapiTS(description, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    rootTypesKeepCasing: true,
  });
  await writeFile(join(directory, 'api.ts'), astToString(types));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What the compiler says about a program that uses the types. */
async function compile(program: string): Promise<string[]> {
  const file = join(directory, 'program.ts');
  await writeFile(file, program);
  const options = {
    strict: true,
    noEmit: true,
    types: [],
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    module: ts.ModuleKind.ESNext,
  };
  const found = ts.getPreEmitDiagnostics(ts.createProgram([file], options));
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** Answers in the description that are objects with names. */
const answers = (): { name: string; answer: unknown }[] =>
  Object.values(description.paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(({ content }) => {
      const { schema, example } = content?.['application/json'] ?? {};
      const name = schema?.$ref?.split('/').at(-1);
      return name === undefined || example === undefined ? [] : [{ name, answer: example }];
    });

test(
  'the main objects have their names, and the answers in the description are such objects',
  { timeout: 120_000 },
  async () => {
    const typed = answers().map(
      ({ name, answer }, at) => `export const answer${at}: Api.${name} = ${JSON.stringify(answer)};`,
    );
    expect(typed.length).toBeGreaterThan(30);
    const named = MAIN_OBJECTS.map((name) => `export type My${name} = Api.${name};`);
    expect(new Set(named).size).toBeGreaterThanOrEqual(30);
    expect(await compile(["import type * as Api from './api.ts';", ...named, ...typed].join('\n'))).toEqual([]);
    const wrong =
      "import type * as Api from './api.ts';\nexport const model: Api.Model = { id: 1 };\nexport type My = Api.Nothing;";
    expect(await compile(wrong)).toEqual([
      expect.stringContaining("Type 'number' is not assignable to type 'string'"),
      expect.stringContaining('has no exported member'),
    ]);
  },
);
