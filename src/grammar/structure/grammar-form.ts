// Converts the rules of a grammar into a form. Rules that are not recursive become terms; recursive rules stay rules. Directly
// left-recursive rules become repetitions; rules that match no finite text are dropped.
import type { Expression, Rule } from '../gbnf-reader.ts';
import { expressionTerm } from '../lexemes/expression-term.ts';
import type { Term, Terms } from '../lexemes/terms.ts';
import type { Form, FormRule } from './forms.ts';

/** `given`: terms that can be referred to by name like rules. Throws Error with the reason. */
export function grammarForm(terms: Terms, rules: readonly Rule[], given: ReadonlyMap<string, Term>): Form {
  const bodies = new Map(rules.map(({ name, body }) => [name, body]));
  for (const { name, body } of rules)
    for (const other of namesIn(body))
      if (!bodies.has(other) && !given.has(other))
        throw new Error(`the rule \`${name}\` refers to \`${other}\`, which does not exist`);
  const recursive = recursiveRules(terms, bodies, new Set(given.keys()));
  const productive = fixpoint(terms, bodies, new Set(given.keys()), canEnd);
  if (!productive.has('root')) throw new Error('the rule `root` never ends: every text that matches it is infinite');
  const known = new Map<string, Term>(given);
  const made = new Map<string, FormRule>();

  function termOf(name: string): Term {
    const found = known.get(name);
    if (found) return found;
    const term = expressionTerm(terms, bodies.get(name)!, termOf);
    known.set(name, term);
    return term;
  }

  const isRegular = (expression: Expression) => !namesIn(expression).some((name) => recursive.has(name));
  const isProductive = (expression: Expression) => canEnd(expression, productive);

  function formOf(expression: Expression): Form {
    if (isRegular(expression)) return { kind: 'term', term: expressionTerm(terms, expression, termOf) };
    switch (expression.kind) {
      case 'sequence':
        return { kind: 'sequence', parts: expression.parts.map(formOf) };
      case 'choice':
        return { kind: 'choice', options: expression.options.filter(isProductive).map(formOf) };
      case 'repeat': {
        const max = isProductive(expression.of) ? (expression.max ?? Infinity) : 0;
        if (max === 0) return { kind: 'term', term: terms.empty };
        return { kind: 'repeat', of: formOf(expression.of), min: expression.min, max };
      }
      case 'name':
        return { kind: 'rule', rule: ruleOf(expression.name) };
      case 'literal':
      case 'class':
        throw new Error('unreachable');
    }
  }

  function ruleOf(name: string): FormRule {
    const found = made.get(name);
    if (found) return found;
    const rule: FormRule = { name, form: null };
    made.set(name, rule);
    rule.form = formOf(withoutLeftRecursion(name, bodies.get(name)!));
    return rule;
  }

  checkLeftCorners(terms, bodies, recursive);
  const root = formOf({ kind: 'name', name: 'root' });
  if (root.kind === 'term' && !terms.isAlive(root.term)) throw new Error('no text matches it');
  return root;
}

function namesIn(expression: Expression): string[] {
  switch (expression.kind) {
    case 'name':
      return [expression.name];
    case 'sequence':
      return expression.parts.flatMap(namesIn);
    case 'choice':
      return expression.options.flatMap(namesIn);
    case 'repeat':
      return namesIn(expression.of);
    case 'literal':
    case 'class':
      return [];
  }
}

type Bodies = ReadonlyMap<string, Expression>;

/** The smallest set of names for which `holds` is true. Alternates the direction, because chains of rules may run either way. */
function fixpoint(
  terms: Terms,
  bodies: Bodies,
  found: Set<string>,
  holds: (body: Expression, found: ReadonlySet<string>) => boolean,
): ReadonlySet<string> {
  let open = [...bodies].filter(([name]) => !found.has(name));
  for (let changed = true; changed;) {
    terms.spend(open.length);
    const left = open.reverse().filter(([name, body]) => !holds(body, found) || !found.add(name));
    changed = left.length < open.length;
    open = left;
  }
  return found;
}

/** Rules that are recursive or lead to a recursive rule. */
function recursiveRules(terms: Terms, bodies: Bodies, given: Set<string>): ReadonlySet<string> {
  const names = new Map([...bodies.values()].map((body) => [body, namesIn(body)]));
  const flat = fixpoint(terms, bodies, given, (body, found) => names.get(body)!.every((other) => found.has(other)));
  return new Set([...bodies.keys()].filter((name) => !flat.has(name)));
}

function canEnd(expression: Expression, productive: ReadonlySet<string>): boolean {
  switch (expression.kind) {
    case 'name':
      return productive.has(expression.name);
    case 'sequence':
      return expression.parts.every((part) => canEnd(part, productive));
    case 'choice':
      return expression.options.some((option) => canEnd(option, productive));
    case 'repeat':
      return expression.min === 0 || canEnd(expression.of, productive);
    case 'literal':
    case 'class':
      return true;
  }
}

/** `a ::= a x | y` is equivalent to `y x*`. */
function withoutLeftRecursion(name: string, body: Expression): Expression {
  const options = body.kind === 'choice' ? body.options : [body];
  const first = (option: Expression): Expression => (option.kind === 'sequence' ? first(option.parts[0]!) : option);
  const isLeft = (option: Expression) => {
    const begin = first(option);
    return begin.kind === 'name' && begin.name === name;
  };
  const tails = options.filter(isLeft);
  if (tails.length === 0) return body;
  const rest = (option: Expression): Expression =>
    option.kind === 'sequence'
      ? { kind: 'sequence', parts: [rest(option.parts[0]!), ...option.parts.slice(1)] }
      : { kind: 'literal', text: '' };
  const others = options.filter((option) => !isLeft(option));
  return {
    kind: 'sequence',
    parts: [
      { kind: 'choice', options: others },
      { kind: 'repeat', of: { kind: 'choice', options: tails.map(rest) }, min: 0, max: null },
    ],
  };
}

/** Throws if a rule is left-recursive through other rules, which is not supported. */
function checkLeftCorners(terms: Terms, bodies: Bodies, recursive: ReadonlySet<string>): void {
  const empty = fixpoint(terms, bodies, new Set(), mayBeEmpty);
  const begins = new Map(
    [...bodies]
      .filter(([name]) => recursive.has(name))
      .map(([name, body]) => [name, leftCorners(withoutLeftRecursion(name, body), empty)]),
  );
  /** False: being visited; true: visited without a cycle. */
  const visited = new Map<string, boolean>();
  const visit = (name: string): void => {
    if (visited.get(name) === false) throw new Error(`the rule \`${name}\` is left-recursive through other rules`);
    if (visited.has(name)) return;
    visited.set(name, false);
    for (const other of begins.get(name) ?? []) visit(other);
    visited.set(name, true);
  };
  for (const name of begins.keys()) visit(name);
}

function mayBeEmpty(expression: Expression, empty: ReadonlySet<string>): boolean {
  switch (expression.kind) {
    case 'literal':
      return expression.text === '';
    case 'class':
      return false;
    case 'name':
      return empty.has(expression.name);
    case 'sequence':
      return expression.parts.every((part) => mayBeEmpty(part, empty));
    case 'choice':
      return expression.options.some((option) => mayBeEmpty(option, empty));
    case 'repeat':
      return expression.min === 0 || mayBeEmpty(expression.of, empty);
  }
}

/** The rules that may come first in the expression. */
function leftCorners(expression: Expression, empty: ReadonlySet<string>): string[] {
  switch (expression.kind) {
    case 'name':
      return [expression.name];
    case 'sequence': {
      const end = expression.parts.findIndex((part) => !mayBeEmpty(part, empty));
      const parts = end < 0 ? expression.parts : expression.parts.slice(0, end + 1);
      return parts.flatMap((part) => leftCorners(part, empty));
    }
    case 'choice':
      return expression.options.flatMap((option) => leftCorners(option, empty));
    case 'repeat':
      return leftCorners(expression.of, empty);
    case 'literal':
    case 'class':
      return [];
  }
}
