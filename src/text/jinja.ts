// Jinja as Python has it: @huggingface/jinja with its differences fixed. Where the library differs from Python (how {{ … }} writes None,
// True, floats, lists and dicts; tojson; strip with characters; loops over strings), the syntax tree is changed to call our own
// functions. Compared with Jinja2 on the templates of some fifty published models.
import { Interpreter, Template } from '@huggingface/jinja';
import {
  createEnvironment,
  fromJinja,
  jinjaDict,
  jinjaFunction,
  toJinja,
  type JinjaFunction,
  type JinjaValue,
} from './jinja-values.ts';
import { pythonJson } from './python-json.ts';
import { pythonText } from './python-text.ts';

/** A node of the syntax tree; the root is a whole template. */
export interface JinjaNode {
  type: string;
  [field: string]: unknown;
}

/** Throws if the template is not valid. */
export function parseJinja(source: string): JinjaNode {
  return new (Template as new (source: string) => { parsed: JinjaNode })(source).parsed;
}

/** Changes the tree in place; afterwards it can only be run. */
export function mendJinja(program: JinjaNode): JinjaNode {
  for (const node of jinjaNodes(program)) {
    if (node.type === 'CallExpression') mendStrip(node);
    if (node.type === 'FilterExpression') mendFilter(node);
    if (node.type === 'BinaryExpression') mendConcatenation(node);
    if (node.type === 'For') mendLoop(node);
    for (const field of ['body', 'alternate', 'defaultBlock']) mendOutput(node, field);
  }
  return program;
}

/** `program` has been changed by the function above. Throws what the template and `functions` throw. */
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
    return pythonJson(value && fromJinja(value), {
      indent: keyword('indent') as number | null,
      separators: separators && [String(separators[0]?.value), String(separators[1]?.value)],
      sortKeys: keyword('sort_keys') === true,
      ensureAscii: keyword('ensure_ascii') === true,
    });
  },
  __text: (values) => values.map((value) => pythonText(fromJinja(value))).join(''),
  __items: ([value]) => {
    if (value?.type === 'UndefinedValue') return [];
    return value?.type === 'StringValue' ? Array.from(value.value as string) : value;
  },
  dict: ([items], keywords) => jinjaDict(new Map([...((items?.value ?? []) as Map<string, JinjaValue>), ...keywords])),
};

const call = (name: string, args: readonly unknown[]): JinjaNode => ({
  type: 'CallExpression',
  callee: { type: 'Identifier', value: name },
  args,
});

/** `text.strip('x')` → `__strip(text, 'x')` */
function mendStrip(expression: JinjaNode): void {
  const { callee, args } = expression;
  if (
    !isJinjaNode(callee) ||
    callee.type !== 'MemberExpression' ||
    callee.computed === true ||
    !isJinjaNode(callee.property)
  )
    return;
  const method = String(callee.property.value);
  if (method !== 'strip' && method !== 'lstrip' && method !== 'rstrip') return;
  Object.assign(expression, call(`__${method}`, [callee.object, ...(args as unknown[])]));
}

/** `x | tojson(indent=2)` → `__tojson(x, indent=2)`, `x | string` → `__text(x)` */
function mendFilter(expression: JinjaNode): void {
  const { filter, operand } = expression;
  if (!isJinjaNode(filter)) return;
  const name = filter.type === 'CallExpression' && isJinjaNode(filter.callee) ? filter.callee.value : filter.value;
  const args = filter.type === 'CallExpression' ? (filter.args as unknown[]) : [];
  if (name === 'tojson') Object.assign(expression, call('__tojson', [operand, ...args]));
  if (name === 'string') Object.assign(expression, call('__text', [operand]));
}

/** `a ~ b` → `__text(a, b)` */
function mendConcatenation(expression: JinjaNode): void {
  if ((expression.operator as { value: string }).value === '~')
    Object.assign(expression, call('__text', [expression.left, expression.right]));
}

/** `for c in text` → `for c in __items(text)`: strings have characters, undefined has no items. */
function mendLoop(loop: JinjaNode): void {
  const { iterable } = loop;
  if (isJinjaNode(iterable) && iterable.type === 'SelectExpression') iterable.lhs = call('__items', [iterable.lhs]);
  else loop.iterable = call('__items', [iterable]);
}

/** `{{ x }}` → `{{ __text(x) }}`. Text between the tags is a StringLiteral and needs nothing. */
function mendOutput(node: JinjaNode, field: string): void {
  const statements = node[field];
  if (!Array.isArray(statements)) return;
  node[field] = statements.map((statement: unknown) =>
    isJinjaNode(statement) && WRITTEN.has(statement.type) ? call('__text', [statement]) : statement,
  );
}

const WRITTEN = new Set([
  'Identifier', 'MemberExpression', 'CallExpression', 'FilterExpression', 'TestExpression', 'SelectExpression', 'Ternary', 'BinaryExpression',
  'UnaryExpression', 'IntegerLiteral', 'FloatLiteral', 'ArrayLiteral', 'TupleLiteral', 'ObjectLiteral',
]); // prettier-ignore

function strip(
  text: JinjaValue | undefined,
  characters: JinjaValue | undefined,
  side: { left: boolean; right: boolean },
): string {
  if (typeof text?.value !== 'string') throw new Error(`strip() needs a string, not ${text?.type}`);
  const unwanted = typeof characters?.value === 'string' ? new Set(characters.value) : null;
  const drops = (character: string) => (unwanted ? unwanted.has(character) : /\s/u.test(character));
  const letters = Array.from(text.value);
  let start = 0;
  let end = letters.length;
  if (side.left) while (start < end && drops(letters[start]!)) start++;
  if (side.right) while (end > start && drops(letters[end - 1]!)) end--;
  return letters.slice(start, end).join('');
}
