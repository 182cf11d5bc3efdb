// Templates as Jinja2 3.1 runs them in Transformers: an immutable sandbox with trim_blocks, lstrip_blocks, loop controls, generation blocks
// and Transformers' tojson. What is not supported is refused when a template is compiled, with its line or name. Compared with Jinja2
// by python/golden/make_templates.py.
import { Budget, type BudgetLimits } from './budget.ts';
import { TemplateError } from './errors.ts';
import { FILTERS, UNSUPPORTED } from './filters.ts';
import { globalsFor } from './globals.ts';
import { Interpreter, type GenerationMarks } from './interpreter.ts';
import { refuseMixedMarkup } from './markup.ts';
import { parseTemplate } from './parser.ts';
import { Scope } from './scope.ts';
import { jinjaNodes, type Block, type JinjaNode, type TemplateBlock } from './syntax.ts';
import { TESTS } from './tests.ts';
import { str } from './texts.ts';
import { Callable, toValue, type Value } from './values.ts';

/** A template that can be run. */
export interface Program {
  readonly body: Block;
  readonly blocks: readonly TemplateBlock[];
}

/** Throws Error: what is wrong, and where. */
export function compileJinja(source: string): Program {
  const body = parseTemplate(source);
  const nodes = jinjaNodes(body);
  for (const node of nodes) {
    if (node.type === 'Test' && !Object.hasOwn(TESTS, node.name))
      throw new TemplateError(`there is no test ${node.name}`);
    if (node.type === 'Filter' && UNSUPPORTED.has(node.name))
      throw new TemplateError(`the filter ${node.name} is not supported`);
  }
  refuseMixedMarkup(nodes);
  for (const node of jinjaNodes(body, isCondition)) {
    if (node.type === 'Filter' && !Object.hasOwn(FILTERS, node.name))
      throw new TemplateError(`there is no filter ${node.name}`);
  }
  return { body, blocks: nodes.filter((node): node is TemplateBlock => node.type === 'Block') };
}

/** In a condition, a filter that does not exist is an error only when it is applied, as in Jinja. */
const isCondition = (node: JinjaNode): boolean => node.type === 'If' || node.type === 'Conditional';

export interface RunOptions {
  readonly limits: BudgetLimits;
  /** Null: generation blocks leave no mark. */
  readonly marks: GenerationMarks | null;
}

/** Of one text, as it is written; what it throws, the template throws. */
export type JinjaFunction = (text: string) => Value;

/** Throws TemplateError, and what `functions` throw. */
export function runJinja(
  { body, blocks }: Program,
  variables: Readonly<Record<string, unknown>>,
  functions: Readonly<Record<string, JinjaFunction>>,
  { limits, marks }: RunOptions,
): string {
  const budget = new Budget(limits);
  const globals = new Scope(null);
  for (const [name, value] of globalsFor(budget)) globals.set(name, value);
  for (const [name, call] of Object.entries(functions))
    globals.set(name, new Callable(name, ([text = '']) => call(str(text, budget))));
  for (const [name, value] of Object.entries(variables)) if (value !== undefined) globals.set(name, toValue(value));
  return new Interpreter(budget, marks, blocks).run(body, new Scope(globals, true));
}
