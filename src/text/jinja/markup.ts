// `safe` and `escape` return Python's Markup, a string that escapes the text that is added to it. Here they return plain strings, which is the
// same where the text is only written; a template that computes with it is refused.
import { TemplateError } from './errors.ts';
import type { Expression, JinjaNode } from './syntax.ts';

const MAKING = new Set(['e', 'escape', 'forceescape', 'safe', 'xmlattr']);
/** Filters that treat Markup as any string; what is escaped twice is escaped once. */
const PLAIN = new Set(['safe', 'd', 'default', 'length', 'lower', 'string', 'tojson', 'trim', 'upper']);

const isMaking = (name: Expression): boolean =>
  name.type === 'Constant' && typeof name.value === 'string' && MAKING.has(name.value);

/** Throws TemplateError. */
export function refuseMixedMarkup(nodes: readonly JinjaNode[]): void {
  const names = new Set<string>();
  const isMarkup = (node: Expression): boolean => {
    if (node.type === 'Name') return names.has(node.name);
    if (node.type === 'Conditional')
      return isMarkup(node.then) || (node.otherwise !== null && isMarkup(node.otherwise));
    if (node.type !== 'Filter' || node.operand === null) return false;
    return MAKING.has(node.name) || (node.name !== 'tojson' && node.name !== 'length' && isMarkup(node.operand));
  };
  for (const node of nodes)
    if (node.type === 'Set' && node.target.type === 'Name' && isMarkup(node.value)) names.add(node.target.name);
  for (const node of nodes) {
    const mixed =
      (node.type === 'Binary' && [node.left, node.right].some(isMarkup)) ||
      (node.type === 'Filter' && node.operand !== null && !PLAIN.has(node.name) && isMarkup(node.operand)) ||
      ((node.type === 'List' || node.type === 'Tuple') && node.items.some(isMarkup)) ||
      (node.type === 'Dict' && node.pairs.flat().some(isMarkup)) ||
      (node.type === 'Attribute' && isMarkup(node.object)) ||
      (node.type === 'Filter' && node.name === 'map' && node.args.positional.slice(0, 1).some(isMaking));
    if (mixed)
      throw new TemplateError(
        'text from the filters safe and escape can be written or joined with ~, not computed with or put into a list',
      );
  }
}
