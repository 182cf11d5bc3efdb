// The terms of an alternative's scalars: numbers, strings and listed values, as their JSON texts. Says of a listed value whether the
// rest of the alternative allows it. Does not know objects and arrays.
import { stringifyExactJson } from '#base/exact-json';
import { ANY, anyText, characterTerm, textsTerm } from '../lexemes/characters.ts';
import { conforms, numberTerm, type JsonNumber } from '../lexemes/numbers.ts';
import { TooComplex, type Term, type Terms } from '../lexemes/terms.ts';
import { TYPES, type Alternative } from './alternatives.ts';
import { hasTwins } from './keyword-values.ts';
import { typeOf } from './refusal.ts';

export class ScalarTerms {
  /** The characters of any string, between its quotes. */
  readonly anyString: Term;
  private readonly terms: Terms;
  private readonly onNoNumber: (reason: string) => void;
  private readonly character: Term;
  private readonly quote: Term;
  private readonly numbers = new Map<string, Term>();

  /** `onNoNumber` is called if the numbers of an alternative cannot be expressed. */
  constructor(terms: Terms, onNoNumber: (reason: string) => void) {
    this.terms = terms;
    this.onNoNumber = onNoNumber;
    this.character = characterTerm(terms, ANY, 'json');
    this.anyString = anyText(terms, 'json');
    this.quote = terms.word('"');
  }

  quoted(characters: Term): Term {
    return this.terms.concat([this.quote, characters, this.quote]);
  }

  /** The characters between the quotes. */
  string(to: Alternative): Term {
    const { terms } = this;
    const isFree = to.minLength === 0 && to.maxLength === Infinity;
    const parts = [...to.strings];
    if (!isFree || parts.length === 0)
      parts.push(isFree ? this.anyString : terms.repeat(this.character, to.minLength, to.maxLength));
    if (to.notStrings.length > 0) parts.push(terms.not(textsTerm(terms, to.notStrings, 'json')));
    return terms.and(parts);
  }

  /** Whether an alternative without listed values leaves a string. */
  hasString(to: Alternative): boolean {
    if (to.minLength > to.maxLength) return false;
    return to.strings.length + to.notStrings.length === 0 || this.terms.isAlive(this.string(to));
  }

  number(to: Alternative): Term {
    const { terms, numbers } = this;
    terms.spend(5 + to.number.not.length);
    const key = stringifyExactJson([to.number, [to.number.not.map(String)]]);
    const known = numbers.get(key);
    if (known) return known;
    try {
      const term = numberTerm(terms, to.number);
      numbers.set(key, term);
      return term;
    } catch (error) {
      if (error instanceof TooComplex) throw error;
      this.onNoNumber(error instanceof Error ? error.message : String(error));
      return terms.none;
    }
  }

  /** Listed scalars that are no strings. */
  words(values: readonly unknown[]): Term {
    return this.terms.words(values.map((value) => (Object.is(value, -0) ? '0' : stringifyExactJson(value))));
  }

  booleans(to: Alternative): Term {
    return this.terms.words([...(to.booleans & 1 ? ['false'] : []), ...(to.booleans & 2 ? ['true'] : [])]);
  }

  /** Whether the rest of the alternative allows a listed value, as far as that is cheap to see. */
  allows(to: Alternative, value: unknown): boolean {
    const type = typeOf(value);
    if ((to.types & TYPES[type]) === 0) return false;
    if (typeof value === 'boolean') return ((to.booleans >> (value ? 1 : 0)) & 1) === 1;
    if (typeof value === 'string') return this.allowsString(to, value);
    if (type === 'number') return conforms(to.number, value as JsonNumber);
    if (to.unique === null || !Array.isArray(value)) return true;
    this.terms.spend(value.length ** 2 / 16);
    return !hasTwins(value);
  }

  /** Makes room. */
  forgetNumbers(): void {
    this.numbers.clear();
  }

  private allowsString(to: Alternative, value: string): boolean {
    const length = to.minLength > 0 || to.maxLength < Infinity ? Array.from(value).length : 0;
    if (length < to.minLength && to.minLength > 0) return false;
    if (length > to.maxLength || to.notStrings.includes(value)) return false;
    const bytes = Buffer.from(JSON.stringify(value).slice(1, -1));
    return to.strings.every((term) => this.terms.matches(term, bytes));
  }
}
