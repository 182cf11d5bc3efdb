// What a chat template's syntax tree tells about the messages it wants: Jinja has no types, and templates differ in
// whether content is a string or a list of parts. Only chat-template.ts asks.
import { isJinjaNode, jinjaNodes, type JinjaNode } from './jinja.ts';

export interface TemplateTraits {
  /** `parts`: it loops over the content and would fail on a string. `either`: it loops, and asks first. */
  readonly content: 'string' | 'parts' | 'either';
  /** It has words for developer messages of its own. */
  readonly knowsDeveloper: boolean;
}

export function readTemplateTraits(program: JinjaNode): TemplateTraits {
  const nodes = jinjaNodes(program);
  const contentNames = new Set(['content', ...nodes.flatMap(nameSetFromContent)]);
  const isContent = (node: JinjaNode) =>
    isContentMember(node) || (node.type === 'Identifier' && contentNames.has(String(node.value)));
  const loops = nodes.some((node) => node.type === 'For' && isContent(base(node.iterable as JinjaNode)));
  const asks = nodes.some(
    (node) => node.type === 'TestExpression' && isContent(base(node.operand as JinjaNode)) && asksForString(node),
  );
  return {
    content: loops ? (asks ? 'either' : 'parts') : 'string',
    knowsDeveloper: nodes.some((node) => node.type === 'StringLiteral' && node.value === 'developer'),
  };
}

/** `x | filter`, `x if …`, `x[a:b]` → `x`: what a loop goes through, or a test is about. */
function base(node: JinjaNode): JinjaNode {
  if (node.type === 'FilterExpression') return base(node.operand as JinjaNode);
  if (node.type === 'SelectExpression') return base(node.lhs as JinjaNode);
  if (node.type === 'MemberExpression' && isJinjaNode(node.property) && node.property.type === 'SliceExpression')
    return base(node.object as JinjaNode);
  return node;
}

/** `message.content` and `message['content']`. */
function isContentMember(node: JinjaNode): boolean {
  const property = node.type === 'MemberExpression' && isJinjaNode(node.property) ? node.property : null;
  return (
    property !== null &&
    (property.type === 'Identifier' || property.type === 'StringLiteral') &&
    property.value === 'content'
  );
}

/** `{% set words = message.content %}` → `words`. */
function nameSetFromContent(node: JinjaNode): string[] {
  if (node.type !== 'Set' || !isJinjaNode(node.value) || !isJinjaNode(node.assignee)) return [];
  return node.assignee.type === 'Identifier' && isContentMember(base(node.value)) ? [String(node.assignee.value)] : [];
}

const STRING_TESTS = new Set(['string', 'iterable', 'sequence', 'mapping']);
const asksForString = (test: JinjaNode): boolean => isJinjaNode(test.test) && STRING_TESTS.has(String(test.test.value));
