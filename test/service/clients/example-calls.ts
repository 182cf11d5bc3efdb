// Calls the operations of openapi.json with the examples in it: this file knows what a call is made of. The test decides the
// order of calls and the expected answers.
import type { OpenApiDocument, Operation, Parameter } from '#api/description/openapi';
import { KEY, type StarterServer } from '../../support/clients/starter-server.ts';

export interface Described {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Omit<Operation, 'parameters'> & { readonly parameters: readonly Parameter[] };
}

/** With what they refer to in place of each reference. */
export const operationsOf = (document: OpenApiDocument): Described[] =>
  Object.entries(resolved(document.paths, document) as Record<string, Record<string, Described['operation']>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const name = `${method.toUpperCase()} ${path}`;
        return { name, method: method.toUpperCase(), path, operation };
      }),
  );

const PREFIX = '#/components/';

function resolved(part: unknown, document: OpenApiDocument): unknown {
  if (Array.isArray(part)) return part.map((each) => resolved(each, document));
  if (typeof part !== 'object' || part === null) return part;
  const { $ref: to, ...others } = part as { $ref?: unknown };
  const rest = Object.fromEntries(Object.entries(others).map(([key, each]) => [key, resolved(each, document)]));
  if (typeof to !== 'string' || !to.startsWith(PREFIX)) return to === undefined ? rest : { $ref: to, ...rest };
  const [kind, name] = to.slice(PREFIX.length).split('/') as [string, string];
  return { ...(resolved((document.components[kind] as Record<string, unknown>)[name], document) as object), ...rest };
}

/** The name of a failure under `components/responses`. */
export const failureNameIn = ({ paths }: OpenApiDocument, { method, path }: Described, status: number): string =>
  (paths[path]![method.toLowerCase()]!.responses[status] as { $ref: string }).$ref.split('/').at(-1)!;

export type Content = Readonly<Record<string, { readonly schema?: object; readonly example?: unknown }>>;
export const contentOf = (part: unknown): Content => (part as { content?: Content } | undefined)?.content ?? {};

/** How a call differs from the example. */
export interface Difference {
  readonly query?: Readonly<Record<string, unknown>>;
  /** Instead of the example's. */
  readonly body?: unknown;
  /** Added to the fields of the example's body. */
  readonly fields?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `real`: an id of the examples → the id of an existing resource. */
export async function call(
  { baseUrl }: StarterServer,
  { method, path, operation }: Described,
  real: Readonly<Record<string, string>>,
  { query = {}, body, fields = {}, headers }: Difference = {},
): Promise<Response> {
  const fill = (text: string) => Object.entries(real).reduce((filled, [from, to]) => filled.replaceAll(from, to), text);
  const examples = new Map(operation.parameters.map((each) => [each.name, each.examples?.usual.value]));
  const required = (where: 'query' | 'header') =>
    operation.parameters
      .filter((each) => each.required && each.in === where)
      .map(({ name }): [string, string] => [name, fill(String(examples.get(name)))]);
  const filled = path.replace(/\{(\w+)\}/g, (_, each: string) => fill(String(examples.get(each))));
  const url = new URL(filled, baseUrl);
  for (const [name, value] of required('query')) url.searchParams.set(name, value);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, fill(String(value)));
  const [described] = Object.entries(contentOf(operation.requestBody));
  const written = (example: unknown) =>
    fill(typeof example === 'string' ? example : JSON.stringify(body ?? { ...(example as object), ...fields }));
  return fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${KEY}`,
      ...(described ? { 'content-type': described[0] } : {}),
      ...Object.fromEntries(required('header')),
      ...headers,
    },
    ...(described ? { body: written(described[1].example) } : {}),
  });
}
