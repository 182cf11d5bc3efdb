// Converts an expression of a grammar into a term; the caller provides the terms of rule names.
import type { Expression } from '../gbnf-reader.ts';
import { characterTerm } from './characters.ts';
import type { Term, Terms } from './terms.ts';

/** `named` returns the term of a rule name. */
export function expressionTerm(terms: Terms, expression: Expression, named?: (name: string) => Term): Term {
  const of = (part: Expression) => expressionTerm(terms, part, named);
  switch (expression.kind) {
    case 'literal':
      return terms.word(expression.text);
    case 'class':
      return characterTerm(terms, expression.ranges, 'plain');
    case 'sequence':
      return terms.concat(expression.parts.map(of));
    case 'choice': {
      const words: string[] = [];
      const others: Term[] = [];
      for (const option of expression.options)
        if (option.kind === 'literal') words.push(option.text);
        else others.push(of(option));
      return terms.or([terms.words(words), ...others]);
    }
    case 'repeat':
      return terms.repeat(of(expression.of), expression.min, expression.max ?? Infinity);
    case 'name': {
      if (!named) throw new Error(`there is no rule \`${expression.name}\``);
      return named(expression.name);
    }
  }
}
