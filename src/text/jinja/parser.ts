// Statements: the tags of a template. What would load another template is refused, as is every tag that is not known.
import { ExpressionParser } from './expression-parser.ts';
import type { Block, Expression, Parameters, Statement, Target } from './syntax.ts';

/** Throws TemplateSyntaxError. */
export const parseTemplate = (source: string): Block => new TemplateParser(source).template();

const LOADING = ['include', 'import', 'from', 'extends'];

class TemplateParser extends ExpressionParser {
  #loops = 0;
  /** Names of blocks so far. */
  readonly #blocks = new Set<string>();

  template(): Block {
    const body = this.#statements([]);
    if (!this.is('end')) this.fail('a tag is not closed');
    return body;
  }

  /** Until a tag with one of these names, whose name is the current token. */
  #statements(ends: readonly string[]): Block {
    return this.nested(() => {
      const found: Statement[] = [];
      for (;;) {
        if (this.is('text')) found.push({ type: 'Text', text: this.next().text });
        else if (this.skip('begin output')) {
          found.push({ type: 'Output', values: [this.tuple()] });
          this.expect('end output');
        } else if (this.skip('begin block')) {
          if (this.is('name', ...(ends.length > 0 ? ends : [' ']))) return found;
          found.push(this.#statement());
          this.expect('end block');
        } else {
          if (ends.length > 0) this.fail(`expected {% ${ends.join(' %} or {% ')} %}, but the template ends`);
          return found;
        }
      }
    });
  }

  /** The statements of a block and the tag that ends it, up to its `%}`. */
  #body(...ends: readonly string[]): { body: Block; end: string } {
    this.expect('end block');
    return { body: this.#statements(ends), end: this.expect('name').text };
  }

  #statement(): Statement {
    const { text: tag } = this.expect('name');
    switch (tag) {
      case 'if':
        return this.#if();
      case 'for':
        return this.#for();
      case 'set':
        return this.#set();
      case 'macro':
        return {
          type: 'Macro',
          name: this.expect('name').text,
          parameters: this.#parameters(),
          body: this.#own('endmacro', true),
        };
      case 'call':
        return this.#call();
      case 'filter':
        return { type: 'FilterBlock', filter: this.filter(null, false), body: this.#own('endfilter') };
      case 'with':
        return this.#with();
      case 'block':
        return this.#block();
      case 'generation':
        return { type: 'Generation', body: this.#own('endgeneration') };
      case 'print':
        return this.#print();
      case 'break':
      case 'continue':
        if (this.#loops === 0) this.fail(`{% ${tag} %} stands outside of a loop`);
        return { type: tag === 'break' ? 'Break' : 'Continue' };
    }
    if (LOADING.includes(tag)) this.fail(`{% ${tag} %} loads another template, which chat templates cannot`);
    return this.fail(`unknown tag {% ${tag} %}`);
  }

  /** A body that ends at one tag. `isFunction`: it cannot leave a loop around it. */
  #own(end: string, isFunction = false): Block {
    const loops = this.#loops;
    if (isFunction) this.#loops = 0;
    const { body } = this.#body(end);
    this.#loops = loops;
    return body;
  }

  #if(): Statement {
    const branches: { test: Expression; body: Block }[] = [];
    for (;;) {
      const test = this.tuple({ conditional: false });
      const { body, end } = this.#body('elif', 'else', 'endif');
      branches.push({ test, body });
      if (end === 'elif') continue;
      return { type: 'If', branches, otherwise: end === 'else' ? this.#own('endif') : [] };
    }
  }

  #for(): Statement {
    const target = this.#target(['in'], false);
    this.expect('name', 'in');
    const items = this.tuple({ conditional: false, ends: ['recursive'] });
    const test = this.skip('name', 'if') ? this.expression() : null;
    const isRecursive = this.skip('name', 'recursive');
    this.#loops++;
    const { body, end } = this.#body('else', 'endfor');
    this.#loops--;
    const otherwise = end === 'else' ? this.#own('endfor') : [];
    return { type: 'For', target, items, test, isRecursive, body, otherwise };
  }

  #set(): Statement {
    const target = this.#target([], true);
    if (this.skip('operator', '=')) return { type: 'Set', target, value: this.tuple() };
    const filter = this.is('operator', '|') ? this.filter(null) : null;
    return { type: 'SetBlock', target, filter, body: this.#own('endset') };
  }

  #target(ends: readonly string[], withNamespace: boolean): Target {
    const items: Target[] = [];
    let hasComma = false;
    do {
      if (
        hasComma &&
        (this.is('end block') || this.is('operator', '=') || (ends.length > 0 && this.is('name', ...ends)))
      )
        break;
      items.push(this.#oneTarget(withNamespace));
      if (this.is('operator', ',')) hasComma = true;
    } while (this.skip('operator', ','));
    return hasComma ? { type: 'Targets', items } : items[0]!;
  }

  #oneTarget(withNamespace: boolean): Target {
    if (this.skip('operator', '(')) {
      const target = this.#target([], withNamespace);
      this.expect('operator', ')');
      return target;
    }
    const { text: name } = this.expect('name');
    if (['true', 'false', 'none', 'True', 'False', 'None'].includes(name)) this.fail(`cannot assign to ${name}`);
    if (!withNamespace || !this.skip('operator', '.')) return { type: 'Name', name };
    return { type: 'NamespaceItem', namespace: name, name: this.expect('name').text };
  }

  #parameters(): Parameters {
    const names: string[] = [];
    const defaults: Expression[] = [];
    this.expect('operator', '(');
    while (!this.skip('operator', ')')) {
      if (names.length > 0) this.expect('operator', ',');
      names.push(this.expect('name').text);
      if (this.skip('operator', '=')) defaults.push(this.expression());
      else if (defaults.length > 0) this.fail('a parameter without a default follows one with a default');
    }
    return { names, defaults };
  }

  #call(): Statement {
    const parameters = this.is('operator', '(') ? this.#parameters() : { names: [], defaults: [] };
    const call = this.expression();
    if (call.type !== 'Call') return this.fail('expected a call');
    return { type: 'CallBlock', call, parameters, body: this.#own('endcall', true) };
  }

  #with(): Statement {
    const bindings: { target: Target; value: Expression }[] = [];
    while (!this.is('end block')) {
      if (bindings.length > 0) this.expect('operator', ',');
      const target = this.#oneTarget(false);
      this.expect('operator', '=');
      bindings.push({ target, value: this.expression() });
    }
    return { type: 'With', bindings, body: this.#own('endwith') };
  }

  #print(): Statement {
    const values: Expression[] = [];
    while (!this.is('end block')) {
      if (values.length > 0) this.expect('operator', ',');
      values.push(this.expression());
    }
    return { type: 'Output', values };
  }

  #block(): Statement {
    const { text: name } = this.expect('name');
    if (this.#blocks.has(name)) this.fail(`the block ${name} is defined twice`);
    this.#blocks.add(name);
    const isScoped = this.skip('name', 'scoped');
    if (this.is('name', 'required'))
      this.fail('a {% block required %} is filled by another template, which chat templates cannot load');
    const body = this.#own('endblock', true);
    this.skip('name', name);
    return { type: 'Block', name, isScoped, body };
  }
}
