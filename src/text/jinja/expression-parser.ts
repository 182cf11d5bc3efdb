// Expressions, with the precedence of Jinja2's parser: condition, or, and, not, comparison, + -, ~, * / // %, **, sign, then filters and
// tests. Reads from a token stream that parser.ts shares.
import { TemplateSyntaxError } from './errors.ts';
import { tokenize, type Token, type TokenType } from './lexer.ts';
import type {
  Arguments,
  BinaryOperator,
  ComparisonOperator,
  Constant,
  Expression,
  FilterExpression,
} from './syntax.ts';

/** Nesting of expressions and blocks: Python's own parser ends near 200 parentheses. */
const DEPTH_MAX = 200;
const NO_ARGUMENTS: Arguments = { positional: [], named: [], list: null, dict: null };
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];
const CONSTANTS: Readonly<Record<string, Constant>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
};

export class ExpressionParser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#tokens = tokenize(source);
  }

  get current(): Token {
    return this.#tokens[this.#at]!;
  }
  protected get following(): Token {
    return this.#tokens[this.#at + 1] ?? this.current;
  }
  next(): Token {
    const token = this.current;
    if (token.type !== 'end') this.#at++;
    return token;
  }
  fail(message: string): never {
    throw new TemplateSyntaxError(message, this.current.line);
  }
  is(type: TokenType, ...texts: readonly string[]): boolean {
    return this.current.type === type && (texts.length === 0 || texts.includes(this.current.text));
  }
  skip(type: TokenType, ...texts: readonly string[]): boolean {
    const matches = this.is(type, ...texts);
    if (matches) this.next();
    return matches;
  }
  expect(type: TokenType, text?: string): Token {
    const found = this.current;
    if (this.is(type, ...(text === undefined ? [] : [text]))) return this.next();
    const seen = found.type === 'end' ? 'the end of the template' : JSON.stringify(found.text);
    return this.fail(`expected ${text ?? type}, but found ${seen}`);
  }
  protected nested<T>(read: () => T): T {
    if (++this.#depth > DEPTH_MAX) this.fail(`it is nested more than ${DEPTH_MAX} deep`);
    const result = read();
    this.#depth--;
    return result;
  }

  /** One expression, or several with commas between them, which are a tuple. `ends`: names that end it. */
  tuple({ conditional = true, ends = [] as readonly string[], explicit = false } = {}): Expression {
    const items: Expression[] = [];
    let hasComma = false;
    const isEnd = () =>
      this.is('end block') ||
      this.is('end output') ||
      this.is('operator', ')') ||
      this.is('name', ...(ends.length > 0 ? ends : [' ']));
    for (;;) {
      if (hasComma && isEnd()) break;
      if (items.length === 0 && isEnd()) break;
      items.push(conditional ? this.expression() : this.or());
      if (!this.is('operator', ',')) break;
      this.next();
      hasComma = true;
    }
    if (!hasComma && items.length > 0) return items[0]!;
    if (items.length === 0 && !explicit) this.fail('expected an expression');
    return { type: 'Tuple', items };
  }

  expression(): Expression {
    return this.nested(() => {
      let value = this.or();
      while (this.skip('name', 'if')) {
        const test = this.or();
        const otherwise = this.skip('name', 'else') ? this.expression() : null;
        value = { type: 'Conditional', test, then: value, otherwise };
      }
      return value;
    });
  }

  protected or(): Expression {
    let left = this.#and();
    while (this.skip('name', 'or')) left = { type: 'Or', left, right: this.#and() };
    return left;
  }

  #and(): Expression {
    let left = this.#not();
    while (this.skip('name', 'and')) left = { type: 'And', left, right: this.#not() };
    return left;
  }

  #not(): Expression {
    if (this.skip('name', 'not')) return this.nested(() => ({ type: 'Not', operand: this.#not() }));
    return this.#comparison();
  }

  #comparison(): Expression {
    const first = this.#sum();
    const rest: { operator: ComparisonOperator; operand: Expression }[] = [];
    for (;;) {
      if (this.is('operator', ...COMPARISONS)) {
        const operator = this.next().text as ComparisonOperator;
        rest.push({ operator, operand: this.#sum() });
      } else if (this.skip('name', 'in')) rest.push({ operator: 'in', operand: this.#sum() });
      else if (this.is('name', 'not') && this.following.type === 'name' && this.following.text === 'in') {
        this.next();
        this.next();
        rest.push({ operator: 'not in', operand: this.#sum() });
      } else break;
    }
    return rest.length === 0 ? first : { type: 'Comparison', first, rest };
  }

  #sum(): Expression {
    return this.#binary(['+', '-'], () => this.#concatenation());
  }

  #concatenation(): Expression {
    const parts = [this.#product()];
    while (this.skip('operator', '~')) parts.push(this.#product());
    return parts.length === 1 ? parts[0]! : { type: 'Concatenation', parts };
  }

  #product(): Expression {
    return this.#binary(['*', '/', '//', '%'], () => this.#binary(['**'], () => this.#unary(true)));
  }

  #binary(operators: readonly BinaryOperator[], operand: () => Expression): Expression {
    let left = operand();
    while (this.is('operator', ...operators)) {
      const operator = this.next().text as BinaryOperator;
      left = { type: 'Binary', operator, left, right: operand() };
    }
    return left;
  }

  #unary(withFilter: boolean): Expression {
    let value: Expression;
    if (this.skip('operator', '-')) value = this.nested(() => ({ type: 'Negative', operand: this.#unary(false) }));
    else if (this.skip('operator', '+')) value = this.nested(() => ({ type: 'Positive', operand: this.#unary(false) }));
    else value = this.#primary();
    value = this.#postfix(value);
    return withFilter ? this.#filtered(value) : value;
  }

  #primary(): Expression {
    const token = this.next();
    if (token.type === 'name') {
      if (Object.hasOwn(CONSTANTS, token.text)) return { type: 'Constant', value: CONSTANTS[token.text]! };
      return { type: 'Name', name: token.text };
    }
    if (token.type === 'string') {
      let { text } = token;
      while (this.is('string')) text += this.next().text;
      return { type: 'Constant', value: text };
    }
    if (token.type === 'integer') return { type: 'Constant', value: readInteger(token.text) };
    if (token.type === 'float') return { type: 'Constant', value: { float: Number(token.text.replaceAll('_', '')) } };
    if (token.type === 'operator' && token.text === '(') {
      const value = this.nested(() => this.tuple({ explicit: true }));
      this.expect('operator', ')');
      return value;
    }
    if (token.type === 'operator' && token.text === '[') return { type: 'List', items: this.#items(']') };
    if (token.type === 'operator' && token.text === '{') return { type: 'Dict', pairs: this.#pairs() };
    this.#at = Math.max(0, this.#at - 1);
    return this.fail(`expected an expression, but found ${JSON.stringify(token.text)}`);
  }

  #items(end: string): Expression[] {
    const items: Expression[] = [];
    while (!this.skip('operator', end)) {
      if (items.length > 0) this.expect('operator', ',');
      if (this.skip('operator', end)) break;
      items.push(this.expression());
    }
    return items;
  }

  #pairs(): [Expression, Expression][] {
    const pairs: [Expression, Expression][] = [];
    while (!this.skip('operator', '}')) {
      if (pairs.length > 0) this.expect('operator', ',');
      if (this.skip('operator', '}')) break;
      const key = this.expression();
      this.expect('operator', ':');
      pairs.push([key, this.expression()]);
    }
    return pairs;
  }

  #postfix(value: Expression): Expression {
    for (;;) {
      if (this.skip('operator', '.')) {
        const name = this.next();
        if (name.type === 'name') value = { type: 'Attribute', object: value, name: name.text };
        else if (name.type === 'integer')
          value = { type: 'Item', object: value, key: { type: 'Constant', value: readInteger(name.text) } };
        else this.fail('expected a name or a number after the point');
      } else if (this.skip('operator', '[')) value = this.#subscript(value);
      else if (this.is('operator', '(')) value = { type: 'Call', callee: value, args: this.arguments() };
      else return value;
    }
  }

  #subscript(object: Expression): Expression {
    const keys: Expression[] = [];
    do {
      if (keys.length > 0 && this.is('operator', ']')) break;
      const start = this.is('operator', ':') ? null : this.expression();
      if (!this.skip('operator', ':')) {
        keys.push(start!);
        continue;
      }
      const part = () => (this.is('operator', ']', ':', ',') ? null : this.expression());
      const stop = part();
      const step = this.skip('operator', ':') ? part() : null;
      if (keys.length > 0 || this.is('operator', ',')) this.fail('a slice stands alone');
      this.expect('operator', ']');
      return { type: 'Slice', object, start, stop, step };
    } while (this.skip('operator', ','));
    this.expect('operator', ']');
    return { type: 'Item', object, key: keys.length === 1 ? keys[0]! : { type: 'Tuple', items: keys } };
  }

  protected arguments(): Arguments {
    this.expect('operator', '(');
    const positional: Expression[] = [];
    const named: [string, Expression][] = [];
    let [list, dict]: [Expression | null, Expression | null] = [null, null];
    let isFirst = true;
    while (!this.skip('operator', ')')) {
      if (!isFirst) this.expect('operator', ',');
      if (!isFirst && this.skip('operator', ')')) break;
      isFirst = false;
      if (this.skip('operator', '*')) list = this.expression();
      else if (this.skip('operator', '**')) dict = this.expression();
      else if (this.is('name') && this.following.type === 'operator' && this.following.text === '=') {
        const { text } = this.next();
        this.next();
        named.push([text, this.expression()]);
      } else {
        if (named.length > 0 || list || dict) this.fail('an argument without a name stands after one with a name');
        positional.push(this.expression());
      }
    }
    return { positional, named, list, dict };
  }

  #filtered(value: Expression): Expression {
    for (;;) {
      if (this.is('operator', '|')) value = this.filter(value);
      else if (this.is('name', 'is')) value = this.#test(value);
      else if (this.is('operator', '(')) value = { type: 'Call', callee: value, args: this.arguments() };
      else return value;
    }
  }

  /** One or more filters; of a block, the first stands without a bar. */
  protected filter(operand: Expression | null, needsBar = true): FilterExpression {
    let filtered: FilterExpression | null = null;
    while (!needsBar || this.is('operator', '|')) {
      if (needsBar) this.next();
      needsBar = true;
      const name = this.#dottedName();
      const args = this.is('operator', '(') ? this.arguments() : NO_ARGUMENTS;
      filtered = { type: 'Filter', operand: filtered ?? operand, name, args };
    }
    return filtered!;
  }

  #dottedName(): string {
    let name = this.expect('name').text;
    while (this.skip('operator', '.')) name += `.${this.expect('name').text}`;
    return name;
  }

  #test(operand: Expression): Expression {
    this.next();
    const isNegated = this.skip('name', 'not');
    const name = this.#dottedName();
    let args = NO_ARGUMENTS;
    if (this.is('operator', '(')) args = this.arguments();
    else if (this.#startsOperand()) {
      if (this.is('name', 'is')) this.fail('a test cannot follow a test');
      args = { ...NO_ARGUMENTS, positional: [this.#postfix(this.#primary())] };
    }
    const test: Expression = { type: 'Test', operand, name, args };
    return isNegated ? { type: 'Not', operand: test } : test;
  }

  #startsOperand(): boolean {
    if (this.is('name')) return !this.is('name', 'else', 'or', 'and');
    return this.is('string') || this.is('integer') || this.is('float') || this.is('operator', '[', '{');
  }
}

function readInteger(text: string): number | bigint {
  const value = BigInt(text.replaceAll('_', ''));
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
