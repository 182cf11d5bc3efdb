// The regular expressions of a tokenizer: where they match in a text. They mean what they mean in Oniguruma, the engine of the library
// `tokenizers`; what a search may cost is bounded by the text's length.
import { AppError } from '#domain/errors';
import type { Span } from '../aligned-text.ts';
import { compileRegex } from './compiler.ts';
import { createMatcher, RegexStepsError } from './matcher.ts';
import { parseRegex } from './parser.ts';
import { RegexError } from './syntax.ts';

export interface Regex {
  /** All matches, and what lies between them. Throws `invalid_request` if the text takes too many steps. */
  readonly spans: (text: string) => Span[];
}

/** Throws RegexError. */
export function createRegex(source: string): Regex {
  const program = compileRegex(parseRegex(source));
  const matcher = createMatcher(program);
  const { first } = program;

  /** The next match from `at` on; null: there is none. */
  function find(text: string, at: number): { from: number; to: number } | null {
    while (at <= text.length) {
      if (first === null || (at < text.length && first.has(text.codePointAt(at)!))) {
        const to = matcher.end(text, at);
        if (to >= 0) return { from: at, to };
      }
      at = next(text, at);
    }
    return null;
  }

  function spansOf(text: string): Span[] {
    const spans: Span[] = [];
    matcher.begin(text);
    let last = 0; // end of the last match
    let matched = false;
    for (let at = 0; at <= text.length;) {
      const found = find(text, at);
      if (!found) break;
      const { from, to } = found;
      if (from === to && matched && to === last) {
        at = next(text, at); // an empty match directly after another is none
        continue;
      }
      if (last < from) spans.push({ from: last, to: from, isMatch: false });
      spans.push({ from, to, isMatch: true });
      at = last = to;
      matched = true;
    }
    if (last < text.length) spans.push({ from: last, to: text.length, isMatch: false });
    return spans;
  }

  return {
    spans(text) {
      try {
        return spansOf(text);
      } catch (error) {
        if (!(error instanceof RegexStepsError)) throw error;
        throw new AppError(
          'invalid_request',
          `A regular expression of the model's tokenizer takes too many steps for this text: ${source.slice(0, 200)}. Send a shorter text, or one without long runs of the same kind of character.`,
          { cause: error },
        );
      }
    },
  };
}

const next = (text: string, at: number): number => at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

/** The message of an expression that cannot be used. */
export function regexProblem(source: string, error: unknown): string {
  if (!(error instanceof RegexError)) throw error;
  return `has the regular expression ${JSON.stringify(source).slice(0, 200)}, which ${error.message}`;
}
