// Added tokens: those that are found in a text before it is split, some before it is normalized and some after. The longest that begins
// first is taken. Knows where tokens are, not what stands between them.
import { AppError } from '#domain/errors';
import type { Span } from './aligned-text.ts';

/** As tokenizer.json has it. */
export interface TokenRule {
  readonly id: number;
  readonly content: string;
  /** Only where no letter or digit stands beside it. */
  readonly singleWord: boolean;
  /** Takes the white space beside it. */
  readonly lstrip: boolean;
  readonly rstrip: boolean;
}

/** A part of a text that is a token, or lies between two; `id` is null there. */
export interface TokenPart extends Omit<Span, 'isMatch'> {
  readonly id: number | null;
}

export type FindTokens = (text: string) => readonly TokenPart[];

interface Branch {
  readonly next: Map<number, Branch>;
  rule: TokenRule | null;
}

/** `spelled`: what is searched for, which normalization may have changed. Throws `bad_model_files`. */
export function createTokenFinder(rules: readonly { rule: TokenRule; spelled: string }[]): FindTokens {
  const root: Branch = { next: new Map(), rule: null };
  for (const { rule, spelled } of rules) addRule(root, rule, spelled);
  if (rules.length === 0) return (text) => (text === '' ? [] : [{ from: 0, to: text.length, id: null }]);
  const begins = new Uint8Array(0x10000);
  for (const unit of root.next.keys()) begins[unit] = 1;

  return (text) => {
    const parts: TokenPart[] = [];
    let last = 0; // end of the last token
    for (let at = 0; at < text.length;) {
      if (begins[text.charCodeAt(at)] === 0) {
        at++;
        continue;
      }
      const found = longest(root, text, at);
      if (!found) {
        at++;
        continue;
      }
      const part = partOf(found.rule, text, at, found.end, last);
      at = found.end;
      if (!part) continue;
      if (last < part.from) parts.push({ from: last, to: part.from, id: null });
      if (part.from < part.to) parts.push(part); // nothing is left of one that the token before it took
      last = part.to;
    }
    if (last < text.length) parts.push({ from: last, to: text.length, id: null });
    return parts;
  };
}

function addRule(root: Branch, rule: TokenRule, spelled: string): void {
  let branch = root;
  for (let i = 0; i < spelled.length; i++) {
    const unit = spelled.charCodeAt(i);
    let next = branch.next.get(unit);
    if (!next) branch.next.set(unit, (next = { next: new Map(), rule: null }));
    branch = next;
  }
  if (branch.rule !== null)
    throw new AppError(
      'bad_model_files',
      `added_tokens has ${JSON.stringify(rule.content)}, which is the same as ${JSON.stringify(branch.rule.content)} after normalization.`,
    );
  if (branch === root)
    throw new AppError(
      'bad_model_files',
      `added_tokens has ${JSON.stringify(rule.content)}, of which normalization leaves nothing.`,
    );
  branch.rule = rule;
}

function longest(root: Branch, text: string, at: number): { rule: TokenRule; end: number } | null {
  let found: { rule: TokenRule; end: number } | null = null;
  let branch: Branch | undefined = root;
  for (let end = at; branch;) {
    if (branch.rule) found = { rule: branch.rule, end };
    branch = end < text.length ? branch.next.get(text.charCodeAt(end++)) : undefined;
  }
  return found;
}

const WORD_BEFORE = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u;
const WORD_AFTER = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;
const WHITE_SPACE = /^\p{White_Space}$/u;

/** Null: it is no token here. `last`: where the token before it ends. */
function partOf(rule: TokenRule, text: string, from: number, to: number, last: number): TokenPart | null {
  if (rule.singleWord) {
    const isWord = WORD_BEFORE.test(text.slice(Math.max(0, from - 2), from)) || WORD_AFTER.test(text.slice(to, to + 2));
    if (isWord) return null;
  }
  let [begin, end] = [from, to];
  while (rule.lstrip && begin > 0 && WHITE_SPACE.test(text[begin - 1]!)) begin--;
  while (rule.rstrip && end < text.length && WHITE_SPACE.test(text[end]!)) end++;
  // Without lstrip, a token may begin in the white space that the one before it took; so it does in the library.
  return { from: rule.lstrip ? Math.max(begin, last) : from, to: end, id: rule.id };
}
