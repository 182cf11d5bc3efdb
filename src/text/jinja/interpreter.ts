// Runs a template's syntax tree: statements write text, expressions have values. Follows Jinja2 3.1 with the default Undefined and without
// autoescaping. Every node costs a step of the budget.
import { PythonFloat } from '../python-json.ts';
import { binary, negative, positive } from './arithmetic.ts';
import type { Budget } from './budget.ts';
import { compare, contains, isEqual, numberOf } from './compare.ts';
import { TemplateError } from './errors.ts';
import type { FilterContext } from './filter.ts';
import { FILTERS } from './filters.ts';
import { Loop } from './loop.ts';
import type { Given } from './parameters.ts';
import { Scope } from './scope.ts';
import { attributeOf, itemOf, sliceOf } from './subscript.ts';
import {
  jinjaNodes,
  type Arguments,
  type Block,
  type ComparisonOperator,
  type Constant,
  type Expression,
  type FilterExpression,
  type Parameters,
  type Statement,
  type Target,
  type TemplateBlock,
} from './syntax.ts';
import { TemplateBlocks } from './template-blocks.ts';
import { TESTS } from './tests.ts';
import { repr, str } from './texts.ts';
import { Callable, Dict, found, isNumber, isTrue, itemsOf, Tuple, typeName, Undefined, type Value } from './values.ts';

/** How a block ended. */
type End = 'reached' | 'break' | 'continue';
type ForStatement = Statement & { type: 'For' };

/** Written at the beginning and the end of each `{% generation %}` block. */
export type GenerationMarks = readonly [open: string, close: string];

export class Interpreter {
  readonly #budget: Budget;
  readonly #marks: GenerationMarks | null;
  readonly #filters: FilterContext;
  #written: string[] = [];
  readonly #blocks: TemplateBlocks;

  constructor(budget: Budget, marks: GenerationMarks | null, blocks: readonly TemplateBlock[]) {
    this.#budget = budget;
    this.#blocks = new TemplateBlocks(blocks, (body, scope) =>
      budget.nested(() => this.#capture(() => this.#block(body, scope))),
    );
    this.#marks = marks;
    this.#filters = {
      budget,
      filter: (name, value, given) => this.#applyFilter(name, value, given),
      test: (name, value, given) => this.#applyTest(name, value, given),
    };
  }

  /** `variables`: those that blocks read. */
  run(template: Block, variables: Scope): string {
    variables.set('self', this.#blocks.selfIn(variables));
    return this.#capture(() => this.#block(template, variables));
  }

  #write(text: string): void {
    this.#written.push(this.#budget.made(text));
  }

  #capture(run: () => void): string {
    const around = this.#written;
    this.#written = [];
    try {
      run();
      return this.#written.join('');
    } finally {
      this.#written = around;
    }
  }

  #block(statements: Block, scope: Scope): End {
    for (const statement of statements) {
      const end = this.#statement(statement, scope);
      if (end !== 'reached') return end;
    }
    return 'reached';
  }

  #statement(statement: Statement, scope: Scope): End {
    this.#budget.step();
    switch (statement.type) {
      case 'Text':
        this.#write(statement.text);
        break;
      case 'Output':
        for (const value of statement.values) this.#write(str(this.#value(value, scope), this.#budget));
        break;
      case 'If': {
        const taken = statement.branches.find(({ test }) => isTrue(this.#value(test, scope)));
        return this.#block(taken?.body ?? statement.otherwise, scope);
      }
      case 'For':
        this.#for(statement, scope);
        break;
      case 'Set':
        scope.assign(statement.target, this.#value(statement.value, scope));
        break;
      case 'SetBlock': {
        const text = this.#capture(() => this.#block(statement.body, new Scope(scope)));
        scope.assign(statement.target, statement.filter ? this.#filter(statement.filter, text, scope) : text);
        break;
      }
      case 'Macro':
        scope.set(statement.name, this.#macro(statement.name, statement.parameters, statement.body, scope));
        break;
      case 'CallBlock': {
        const caller = this.#macro(null, statement.parameters, statement.body, scope);
        this.#write(str(this.#call(statement.call, scope, caller), this.#budget));
        break;
      }
      case 'FilterBlock': {
        const text = this.#capture(() => this.#block(statement.body, new Scope(scope)));
        const filtered = this.#filter(statement.filter, text, scope);
        if (typeof filtered !== 'string')
          throw new TemplateError(`a filter block must make a str instance, ${typeName(filtered)} found`);
        this.#write(filtered);
        break;
      }
      case 'With': {
        const inner = new Scope(scope);
        const values = statement.bindings.map(({ value }) => this.#value(value, scope));
        statement.bindings.forEach(({ target }, i) => inner.assign(target, values[i]!));
        return this.#block(statement.body, inner);
      }
      case 'Block':
        this.#write(this.#blocks.run(statement, statement.isScoped ? new Scope(scope, true) : scope.blockScope));
        break;
      case 'Generation':
        if (this.#marks) this.#write(this.#marks[0]);
        this.#block(statement.body, new Scope(scope));
        if (this.#marks) this.#write(this.#marks[1]);
        break;
      case 'Break':
        return 'break';
      case 'Continue':
        return 'continue';
    }
    return 'reached';
  }

  #for(statement: ForStatement, scope: Scope): void {
    this.#loop(statement, this.#value(statement.items, scope), scope, 1);
  }

  #loop(statement: ForStatement, given: Value, scope: Scope, depth: number): void {
    const { target, body, otherwise, isRecursive } = statement;
    const items = itemsOf(given);
    this.#budget.step(items.length);
    const again = (below: Value): Value =>
      this.#budget.nested(() => this.#capture(() => this.#loop(statement, below, scope, depth + 1)));
    const loop = new Loop(this.#passing(statement, items, scope), depth, isRecursive ? again : null, this.#budget);
    let isDone = false; // an item has been handled to its end: in Jinja, {% else %} also follows items that all were left early
    for (let item = loop.next(); item !== undefined; item = loop.next()) {
      this.#budget.step();
      const inner = new Scope(scope);
      inner.set('loop', loop.variable);
      inner.assign(target, item);
      const end = this.#block(body, inner);
      isDone ||= end === 'reached';
      if (end === 'break') break;
    }
    if (!isDone) this.#block(otherwise, new Scope(scope));
  }

  /** The items for which the loop's condition holds; with several targets, as a tuple of them. */
  *#passing({ target, test }: ForStatement, items: readonly Value[], scope: Scope): Generator<Value, undefined> {
    for (const item of items) {
      if (test === null) yield item;
      else {
        const inner = new Scope(scope);
        inner.assign(target, item);
        if (isTrue(this.#value(test, inner))) yield unpacked(target, item);
      }
    }
  }

  /** `name` is null for the body of a call block. */
  #macro(name: string | null, { names, defaults }: Parameters, body: Block, around: Scope): Callable {
    const reads = new Set(jinjaNodes(body).flatMap((node) => (node.type === 'Name' ? node.name : [])));
    const call = (args: readonly Value[], named: ReadonlyMap<string, Value>): Value => {
      const scope = new Scope(around);
      const rest = new Map(named);
      const hasCaller = rest.has('caller');
      for (const [i, parameter] of names.entries()) {
        if (i < args.length) {
          if (rest.has(parameter))
            throw new TemplateError(`macro '${name}' got multiple values for argument '${parameter}'`);
          scope.set(parameter, args[i]!);
        } else if (rest.has(parameter)) {
          scope.set(parameter, rest.get(parameter)!);
          rest.delete(parameter);
        } else {
          const default_ = defaults[i - names.length + defaults.length];
          const missing = new Undefined(`parameter '${parameter}' was not provided`);
          scope.set(parameter, default_ === undefined ? missing : this.#value(default_, scope));
        }
      }
      if (reads.has('caller') && !names.includes('caller')) {
        scope.set('caller', found(rest.get('caller'), 'No caller defined'));
        rest.delete('caller');
      } else if (hasCaller && rest.has('caller') && !reads.has('kwargs'))
        throw new TemplateError(
          `macro '${name}' was invoked with two values for the special caller argument. This is most likely a bug.`,
        );
      if (reads.has('kwargs'))
        scope.set(
          'kwargs',
          [...rest].reduce((dict, [key, value]) => dict.set(key, value), new Dict()),
        );
      else if (rest.size > 0)
        throw new TemplateError(`macro '${name}' takes no keyword argument '${[...rest.keys()][0]}'`);
      if (reads.has('varargs')) scope.set('varargs', new Tuple(args.slice(names.length)));
      else if (args.length > names.length)
        throw new TemplateError(`macro '${name}' takes not more than ${names.length} argument(s)`);
      return this.#budget.nested(() => this.#capture(() => this.#block(body, scope)));
    };
    const attributes: Readonly<Record<string, Value>> = {
      name,
      arguments: new Tuple(names),
      catch_kwargs: reads.has('kwargs'),
      catch_varargs: reads.has('varargs'),
      caller: reads.has('caller'),
    };
    const attribute = (key: string) => (Object.hasOwn(attributes, key) ? attributes[key] : undefined);
    const text = () => `<Macro ${name === null ? 'anonymous' : repr(name, this.#budget)}>`;
    return new Callable(name ?? 'caller', call, attribute, text);
  }

  #value(expression: Expression, scope: Scope): Value {
    this.#budget.step();
    switch (expression.type) {
      case 'Constant':
        return constant(expression.value);
      case 'Name':
        return found(scope.get(expression.name), `'${expression.name}' is undefined`);
      case 'List':
        this.#budget.make(expression.items.length);
        return expression.items.map((item) => this.#value(item, scope));
      case 'Tuple':
        return new Tuple(expression.items.map((item) => this.#value(item, scope)));
      case 'Dict':
        this.#budget.make(expression.pairs.length);
        return expression.pairs.reduce(
          (dict, [key, value]) => dict.set(this.#value(key, scope), this.#value(value, scope)),
          new Dict(),
        );
      case 'Conditional':
        if (isTrue(this.#value(expression.test, scope))) return this.#value(expression.then, scope);
        if (expression.otherwise) return this.#value(expression.otherwise, scope);
        return new Undefined('the inline if-expression evaluated to false and no else section was defined.');
      case 'Or': {
        const left = this.#value(expression.left, scope);
        return isTrue(left) ? left : this.#value(expression.right, scope);
      }
      case 'And': {
        const left = this.#value(expression.left, scope);
        return isTrue(left) ? this.#value(expression.right, scope) : left;
      }
      case 'Not':
        return !isTrue(this.#value(expression.operand, scope));
      case 'Negative':
        return negative(this.#value(expression.operand, scope));
      case 'Positive':
        return positive(this.#value(expression.operand, scope));
      case 'Comparison':
        return this.#comparison(expression, scope);
      case 'Concatenation':
        return expression.parts.map((part) => this.#budget.made(str(this.#value(part, scope), this.#budget))).join('');
      case 'Binary': {
        const [left, right] = [this.#value(expression.left, scope), this.#value(expression.right, scope)];
        return isTurnedPower(expression, left)
          ? negative(binary('**', negative(left), right, this.#budget))
          : binary(expression.operator, left, right, this.#budget);
      }
      case 'Attribute':
        return attributeOf(this.#value(expression.object, scope), expression.name, this.#budget);
      case 'Item':
        return itemOf(this.#value(expression.object, scope), this.#value(expression.key, scope), this.#budget);
      case 'Slice': {
        const object = this.#value(expression.object, scope);
        const [start, stop, step] = [expression.start, expression.stop, expression.step].map(
          (part) => part && this.#value(part, scope),
        );
        return sliceOf(object, start, stop, step, this.#budget);
      }
      case 'Call':
        return this.#call(expression, scope, null);
      case 'Filter':
        return this.#filter(expression, '', scope);
      case 'Test':
        return this.#applyTest(
          expression.name,
          this.#value(expression.operand, scope),
          this.#given(expression.args, scope),
        );
    }
  }

  #comparison({ first, rest }: Expression & { type: 'Comparison' }, scope: Scope): boolean {
    let left = this.#value(first, scope);
    return rest.every(({ operator, operand }) => {
      const right = this.#value(operand, scope);
      const holds = isHeld(operator, left, right, this.#budget);
      left = right;
      return holds;
    });
  }

  #call({ callee, args }: Expression & { type: 'Call' }, scope: Scope, caller: Value | null): Value {
    const called = this.#value(callee, scope);
    const { positional, named } = this.#given(args, scope);
    if (called instanceof Undefined) called.fail();
    if (!(called instanceof Callable)) throw new TemplateError(`'${typeName(called)}' object is not callable`);
    return called.call(positional, caller === null ? named : new Map([...named, ['caller', caller]]));
  }

  #given({ positional, named, list, dict }: Arguments, scope: Scope): Given {
    const first = positional.map((argument) => this.#value(argument, scope));
    const byName = new Map(named.map(([name, argument]) => [name, this.#value(argument, scope)]));
    if (list) for (const item of itemsOf(this.#value(list, scope))) first.push(item);
    if (dict) {
      const more = this.#value(dict, scope);
      if (!(more instanceof Dict)) throw new TemplateError('the argument after ** must be a mapping');
      for (const [name, value] of more.entries()) byName.set(str(name, this.#budget), value);
    }
    return { positional: first, named: byName };
  }

  /** `text` is what a filter without an operand filters. */
  #filter({ operand, name, args }: FilterExpression, text: string, scope: Scope): Value {
    let value: Value = text;
    if (operand) value = operand.type === 'Filter' ? this.#filter(operand, text, scope) : this.#value(operand, scope);
    return this.#applyFilter(name, value, this.#given(args, scope));
  }

  #applyFilter(name: string, value: Value, given: Given): Value {
    this.#budget.step();
    if (!Object.hasOwn(FILTERS, name)) throw new TemplateError(`No filter named '${name}'.`);
    return FILTERS[name]!(value, given, this.#filters);
  }

  #applyTest(name: string, value: Value, given: Given): boolean {
    this.#budget.step();
    if (!Object.hasOwn(TESTS, name)) throw new TemplateError(`No test named '${name}'.`);
    return TESTS[name]!(value, given, this.#budget);
  }
}

function unpacked(target: Target, value: Value): Value {
  if (target.type !== 'Targets') return value;
  return new Tuple(itemsOf(value).map((item, i) => unpacked(target.items[i]!, item)));
}

/**
 * Jinja writes a template as Python in which a negative constant stands before `**`, where Python applies the minus last. A power of
 * constants it computes itself.
 */
function isTurnedPower({ operator, left, right }: Expression & { type: 'Binary' }, value: Value): boolean {
  if (operator !== '**' || !isNumber(value) || !(Number(numberOf(value)) < 0)) return false;
  const isConstant = (part: Expression) => jinjaNodes([part]).every(({ type }) => type !== 'Name' && type !== 'Call');
  return isConstant(left) && !isConstant(right);
}

const constant = (value: Constant): Value =>
  typeof value === 'object' && value !== null ? new PythonFloat(value.float) : value;

function isHeld(operator: ComparisonOperator, left: Value, right: Value, budget: Budget): boolean {
  switch (operator) {
    case '==':
      return isEqual(left, right, budget);
    case '!=':
      return !isEqual(left, right, budget);
    case 'in':
      return contains(right, left, budget);
    case 'not in':
      return !contains(right, left, budget);
    case '<':
      return compare(left, right, budget, operator) < 0;
    case '<=':
      return compare(left, right, budget, operator) <= 0;
    case '>':
      return compare(left, right, budget, operator) > 0;
    case '>=':
      return compare(left, right, budget, operator) >= 0;
  }
}
