// What a chat template's syntax tree reveals about the messages it expects: Jinja has no types, and templates differ in whether content is
// a string or a list of parts. Used by chat-template.ts only.
import { jinjaNodes, type Expression, type JinjaNode, type Statement } from './jinja/syntax.ts';

export interface TemplateTraits {
  /** `parts`: it loops over the content and would fail on a string. `either`: it loops, but checks first. */
  readonly content: 'string' | 'parts' | 'either';
  /** `text`: it inserts the arguments of tool calls between strings, so they must already be JSON. */
  readonly toolArguments: 'object' | 'text';
  /** `nine`: it accepts only call ids of nine letters and digits, as Mistral's does. */
  readonly callIds: 'any' | 'nine';
  /** It reads the reasoning of a message from a field of this name, as gpt-oss's does. */
  readonly readsThinking: boolean;
  /** It expects tools in its system message, as JSON text: Phi-4-mini's. */
  readonly toolsInMessage: boolean;
  /** It handles developer messages, and results in the older role `function`. */
  readonly knowsDeveloper: boolean;
  readonly knowsFunction: boolean;
}

export function readTemplateTraits(nodes: readonly JinjaNode[]): TemplateTraits {
  return {
    content: contentForm(nodes),
    toolArguments: nodes.some(addsArguments) ? 'text' : 'object',
    callIds: nodes.some(countsNine) ? 'nine' : 'any',
    readsThinking: nodes.some((node) => isMember(node, 'thinking') && isName(node.object, 'message')),
    toolsInMessage: nodes.some((node) => isMember(node, 'tools') && isName(node.object, 'message')),
    knowsDeveloper: nodes.some((node) => isText(node, 'developer')),
    knowsFunction: nodes.some(isFunctionRole),
  };
}

function contentForm(nodes: readonly JinjaNode[]): TemplateTraits['content'] {
  const everywhere = { nodes, names: new Set(['content', ...nodes.flatMap(nameSetFromContent)]) };
  let loops = false;
  let asks = false;
  for (const { nodes: inside, names } of [everywhere, ...macrosOfContent(nodes, everywhere.names)]) {
    const isContent = (node: Expression) =>
      gets(node, null, 'content') || (node.type === 'Name' && names.has(node.name));
    loops ||= inside.some((node) => node.type === 'For' && isContent(subject(node.items)) && readsParts(node));
    asks ||= inside.some(
      (node) => node.type === 'Test' && isContent(subject(node.operand)) && STRING_TESTS.has(node.name),
    );
  }
  return loops ? (asks ? 'either' : 'parts') : 'string';
}

/** Macros that are called with the content, and their names for it. */
function macrosOfContent(nodes: readonly JinjaNode[], names: ReadonlySet<string>) {
  const isContent = (node: Expression) =>
    gets(subject(node), null, 'content') || (node.type === 'Name' && names.has(node.name));
  const calls = nodes.filter((node) => node.type === 'Call');
  return nodes
    .filter((node) => node.type === 'Macro')
    .map(({ name, parameters, body }) => {
      const own = calls.filter(({ callee }) => isName(callee, name)).map(({ args }) => args);
      const given = own.flatMap(({ positional, named }) => [
        ...positional.flatMap((value, at) => (isContent(value) ? (parameters.names[at] ?? []) : [])),
        ...named.flatMap(([parameter, value]) => (isContent(value) ? parameter : [])),
      ]);
      return { nodes: jinjaNodes(body), names: new Set(given) };
    });
}

const STRING_TESTS = new Set(['string', 'iterable', 'sequence', 'mapping']);

const isName = (node: JinjaNode, name: string): boolean => node.type === 'Name' && node.name === name;
const isText = (node: JinjaNode, text: string): boolean => node.type === 'Constant' && node.value === text;

/** `object.name` and `object['name']`. */
function isMember(node: JinjaNode, ...names: readonly string[]): node is Expression & { type: 'Attribute' | 'Item' } {
  if (node.type === 'Attribute') return names.includes(node.name);
  return node.type === 'Item' && names.some((name) => isText(node.key, name));
}

/** Also `object.get('name')`. */
function gets(node: JinjaNode, object: string | null, ...names: readonly string[]): boolean {
  const isOf = (of: Expression) => object === null || isName(of, object);
  if (isMember(node, ...names)) return isOf(node.object);
  if (node.type !== 'Call' || node.callee.type !== 'Attribute' || node.callee.name !== 'get') return false;
  const [key] = node.args.positional;
  return isOf(node.callee.object) && key !== undefined && names.some((name) => isText(key, name));
}

/** `x | filter`, `x[a:b]` → `x`: the subject of a loop or a test. */
function subject(node: Expression): Expression {
  if (node.type === 'Filter' && node.operand) return subject(node.operand);
  return node.type === 'Slice' ? subject(node.object) : node;
}

/** `call.id|length != 9`, or `< 9` if the template cuts it to that. */
function countsNine(node: JinjaNode): boolean {
  if (node.type !== 'Comparison' || node.first.type !== 'Filter' || node.first.name !== 'length') return false;
  const counted = node.first.operand;
  const isNine = node.rest.some(({ operand }) => operand.type === 'Constant' && operand.value === 9);
  return isNine && counted !== null && (isMember(counted, 'id', 'tool_call_id') || isName(counted, 'id'));
}

/** `role == 'function'`: the word alone is also a type of tools. */
function isFunctionRole(node: JinjaNode): boolean {
  if (node.type !== 'Comparison') return false;
  const sides = [node.first, ...node.rest.map(({ operand }) => operand)];
  return (
    sides.some((side) => isText(side, 'function')) &&
    sides.some((side) => isMember(side, 'role') || isName(side, 'role'))
  );
}

/** The items of a loop are parts if it reads their type or text; some templates keep tool calls in the content. */
function readsParts({ target, body }: Statement & { type: 'For' }): boolean {
  const name = target.type === 'Name' ? target.name : null;
  return name !== null && jinjaNodes(body).some((node) => gets(node, name, 'type', 'text'));
}

/** `'…' + call.function.arguments` */
const addsArguments = (node: JinjaNode): boolean =>
  node.type === 'Binary' &&
  node.operator === '+' &&
  [node.left, node.right].some((side) => isMember(side, 'arguments'));

/** `{% set words = message.content %}` → `words`. */
function nameSetFromContent(node: JinjaNode): string[] {
  if (node.type !== 'Set' || node.target.type !== 'Name') return [];
  return gets(subject(node.value), null, 'content') ? [node.target.name] : [];
}
