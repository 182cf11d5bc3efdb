// Jinja as Python's: @huggingface/jinja with its differences mended. Two are turned into calls of our own functions in
// the syntax tree: the strip() family, which there takes off whitespace whatever characters it is asked for, and the
// tojson filter, which writes floats as JavaScript does.
import { Interpreter, Template } from '@huggingface/jinja';
import {
  createEnvironment,
  fromJinja,
  jinjaFunction,
  toJinja,
  type JinjaFunction,
  type JinjaValue,
} from './jinja-values.ts';
import { pythonJson } from './python-json.ts';

/** A node of the syntax tree; the root is a whole template. */
export interface JinjaNode {
  type: string;
  [field: string]: unknown;
}

/** Throws if the template is not valid. */
export function parseJinja(source: string): JinjaNode {
  return new (Template as new (source: string) => { parsed: JinjaNode })(source).parsed;
}

/** Rewritten in place; `descendants` of the original tree are gone after that. */
export function mendJinja(program: JinjaNode): JinjaNode {
  for (const node of jinjaNodes(program)) {
    if (node.type === 'CallExpression') mendStrip(node);
    if (node.type === 'FilterExpression') mendToJson(node);
  }
  return program;
}

/** `program` has been mended. Throws what the template and `functions` throw. */
export function runJinja(
  program: JinjaNode,
  variables: Readonly<Record<string, unknown>>,
  functions: Readonly<Record<string, JinjaFunction>>,
): string {
  const environment = createEnvironment();
  for (const [name, call] of Object.entries({ ...functions, ...MENDED }))
    environment.setVariable(name, jinjaFunction(call));
  for (const [name, value] of Object.entries({ ...CONSTANTS, ...variables }))
    environment.setVariable(name, toJinja(value));
  const interpreter = new (Interpreter as new (environment: unknown) => { run(program: unknown): JinjaValue })(
    environment,
  );
  return String(interpreter.run(program).value);
}

export function jinjaNodes(root: unknown): JinjaNode[] {
  const found: JinjaNode[] = [];
  const visit = (value: unknown) => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (value instanceof Map) [...(value as Map<unknown, unknown>)].forEach(visit);
    else if (isJinjaNode(value)) {
      found.push(value);
      Object.values(value).forEach(visit);
    }
  };
  visit(root);
  return found;
}

export const isJinjaNode = (value: unknown): value is JinjaNode =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

const CONSTANTS = { true: true, True: true, false: false, False: false, none: null, None: null };

const MENDED: Readonly<Record<string, JinjaFunction>> = {
  __strip: ([text, characters]) => strip(text, characters, { left: true, right: true }),
  __lstrip: ([text, characters]) => strip(text, characters, { left: true, right: false }),
  __rstrip: ([text, characters]) => strip(text, characters, { left: false, right: true }),
  __tojson: ([value], keywords) => {
    const keyword = (name: string) => keywords.get(name)?.value ?? null;
    const separators = keyword('separators') as readonly JinjaValue[] | null;
    return pythonJson(value === undefined ? null : fromJinja(value), {
      indent: keyword('indent') as number | null,
      separators: separators && [String(separators[0]?.value), String(separators[1]?.value)],
      sortKeys: keyword('sort_keys') === true,
      ensureAscii: keyword('ensure_ascii') === true,
    });
  },
};

/** `text.strip('x')` → `__strip(text, 'x')` */
function mendStrip(call: JinjaNode): void {
  const { callee, args } = call;
  if (
    !isJinjaNode(callee) ||
    callee.type !== 'MemberExpression' ||
    callee.computed === true ||
    !isJinjaNode(callee.property)
  )
    return;
  const method = String(callee.property.value);
  if (method !== 'strip' && method !== 'lstrip' && method !== 'rstrip') return;
  call.callee = { type: 'Identifier', value: `__${method}` };
  call.args = [callee.object, ...(args as unknown[])];
}

/** `x | tojson(indent=2)` → `__tojson(x, indent=2)` */
function mendToJson(expression: JinjaNode): void {
  const { filter, operand } = expression;
  if (!isJinjaNode(filter)) return;
  const name = filter.type === 'CallExpression' && isJinjaNode(filter.callee) ? filter.callee.value : filter.value;
  if (name !== 'tojson') return;
  const args = filter.type === 'CallExpression' ? (filter.args as unknown[]) : [];
  Object.assign(expression, {
    type: 'CallExpression',
    callee: { type: 'Identifier', value: '__tojson' },
    args: [operand, ...args],
  });
}

function strip(
  text: JinjaValue | undefined,
  characters: JinjaValue | undefined,
  side: { left: boolean; right: boolean },
): string {
  if (typeof text?.value !== 'string') throw new Error(`strip() is for strings, not for ${text?.type}`);
  const unwanted = typeof characters?.value === 'string' ? new Set(characters.value) : null;
  const drops = (character: string) => (unwanted ? unwanted.has(character) : /\s/u.test(character));
  const letters = Array.from(text.value);
  let start = 0;
  let end = letters.length;
  if (side.left) while (start < end && drops(letters[start]!)) start++;
  if (side.right) while (end > start && drops(letters[end - 1]!)) end--;
  return letters.slice(start, end).join('');
}
