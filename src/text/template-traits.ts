// What a chat template's syntax tree reveals about the messages it expects: Jinja has no types, and templates differ in whether content is
// a string or a list of parts. Used by chat-template.ts only.
import { isJinjaNode, jinjaNodes, type JinjaNode } from './jinja.ts';

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

export function readTemplateTraits(program: JinjaNode): TemplateTraits {
  const nodes = jinjaNodes(program);
  const contentNames = new Set(['content', ...nodes.flatMap(nameSetFromContent)]);
  const isContent = (node: JinjaNode) =>
    isContentMember(node) || (node.type === 'Identifier' && contentNames.has(String(node.value)));
  const loops = nodes.some(
    (node) => node.type === 'For' && isContent(base(node.iterable as JinjaNode)) && readsParts(node),
  );
  const asks = nodes.some(
    (node) => node.type === 'TestExpression' && isContent(base(node.operand as JinjaNode)) && asksForString(node),
  );
  return {
    content: loops ? (asks ? 'either' : 'parts') : 'string',
    toolArguments: nodes.some(addsArguments) ? 'text' : 'object',
    callIds: nodes.some(countsNine) ? 'nine' : 'any',
    readsThinking: nodes.some((node) => isMember(node, 'thinking') && isIdentifier(node.object, 'message')),
    toolsInMessage: nodes.some((node) => isMember(node, 'tools') && isIdentifier(node.object, 'message')),
    knowsDeveloper: nodes.some((node) => node.type === 'StringLiteral' && node.value === 'developer'),
    knowsFunction: nodes.some((node) => isFunctionRole(node)),
  };
}

const isIdentifier = (node: unknown, name: string): boolean =>
  isJinjaNode(node) && node.type === 'Identifier' && node.value === name;

/** `call.id|length != 9`, or `< 9` if the template cuts it to that. */
function countsNine({ type, left, right }: JinjaNode): boolean {
  const isNine = isJinjaNode(right) && right.type === 'IntegerLiteral' && right.value === 9;
  if (type !== 'BinaryExpression' || !isNine || !isJinjaNode(left) || left.type !== 'FilterExpression') return false;
  return isIdentifier(left.filter, 'length') && isJinjaNode(left.operand) && isCallId(left.operand);
}

const isCallId = (node: JinjaNode): boolean => isMember(node, 'id', 'tool_call_id') || isIdentifier(node, 'id');

/** `role == 'function'`: the word alone is also a type of tools. */
function isFunctionRole(node: JinjaNode): boolean {
  if (node.type !== 'BinaryExpression') return false;
  const isWord = (side: unknown) => isJinjaNode(side) && side.type === 'StringLiteral' && side.value === 'function';
  const isRole = (side: unknown) => isMember(side, 'role') || (isJinjaNode(side) && side.value === 'role');
  return (isWord(node.right) && isRole(node.left)) || (isWord(node.left) && isRole(node.right));
}

/** `x | filter`, `x if …`, `x[a:b]` → `x`: the subject of a loop or a test. */
function base(node: JinjaNode): JinjaNode {
  if (node.type === 'FilterExpression') return base(node.operand as JinjaNode);
  if (node.type === 'SelectExpression') return base(node.lhs as JinjaNode);
  if (node.type === 'MemberExpression' && isJinjaNode(node.property) && node.property.type === 'SliceExpression')
    return base(node.object as JinjaNode);
  return node;
}

/** `object.name` and `object['name']`. */
function isMember(node: unknown, ...names: readonly string[]): node is JinjaNode {
  if (!isJinjaNode(node) || node.type !== 'MemberExpression' || !isJinjaNode(node.property)) return false;
  const { type, value } = node.property;
  return (type === 'Identifier' || type === 'StringLiteral') && names.includes(String(value));
}

const isContentMember = (node: JinjaNode): boolean => isMember(node, 'content');

/** The items of a loop are parts if it reads their type or text; some templates keep tool calls in the content. */
function readsParts({ loopvar, body }: JinjaNode): boolean {
  const name = isJinjaNode(loopvar) ? loopvar.value : null;
  return jinjaNodes(body).some(
    (node) => isMember(node, 'type', 'text') && isJinjaNode(node.object) && node.object.value === name,
  );
}

/** `'…' + call.function.arguments` */
const addsArguments = (node: JinjaNode): boolean =>
  node.type === 'BinaryExpression' &&
  (node.operator as { value: string }).value === '+' &&
  (isMember(node.left, 'arguments') || isMember(node.right, 'arguments'));

/** `{% set words = message.content %}` → `words`. */
function nameSetFromContent(node: JinjaNode): string[] {
  if (node.type !== 'Set' || !isJinjaNode(node.value) || !isJinjaNode(node.assignee)) return [];
  return node.assignee.type === 'Identifier' && isContentMember(base(node.value)) ? [String(node.assignee.value)] : [];
}

const STRING_TESTS = new Set(['string', 'iterable', 'sequence', 'mapping']);
const asksForString = (test: JinjaNode): boolean => isJinjaNode(test.test) && STRING_TESTS.has(String(test.test.value));
