// Limits on one GraphQL document, counted before anything is resolved: fragments are counted wherever they are spread, so that a
// short text cannot expand to a long one. The library's own documents use a fifth of these limits.
import {
  Kind,
  Lexer,
  Source,
  TokenKind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { AppError } from '#domain/errors';

/** Length of the text: the parser stops there. */
export const TOKENS_MAX = 5_000;
const DEPTH_MAX = 20;
const FIELDS_MAX = 1_000;
/** Each may be a database query. */
const ROOT_FIELDS_MAX = 10;
const OPERATIONS_MAX = 10;

/** Brackets of all kinds: the parser and the rules recurse, also into values. */
const BRACKETS_DEEP_MAX = 100;
const OPENING: readonly string[] = [TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L];
const CLOSING: readonly string[] = [TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R];

/** Call before parsing. Throws `invalid_request`, and the lexer's errors. */
export function refuseDeepText(text: string): void {
  const lexer = new Lexer(new Source(text));
  let depth = 0;
  for (let count = 0; count < TOKENS_MAX; count++) {
    const { kind } = lexer.advance();
    if (kind === TokenKind.EOF) return;
    if (OPENING.includes(kind) && ++depth > BRACKETS_DEEP_MAX)
      throw tooMuch(`nests deeper than ${BRACKETS_DEEP_MAX} brackets`);
    if (CLOSING.includes(kind)) depth--;
  }
}

/** Throws `invalid_request`. */
export function refuseBombs({ definitions }: DocumentNode): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  let fields = 0;

  /** Returns the number of fields at this level. */
  function count({ selections }: SelectionSetNode, depth: number): number {
    if (depth > DEPTH_MAX) throw tooMuch(`nests deeper than ${DEPTH_MAX} levels`);
    let here = 0;
    for (const selection of selections) {
      if (++fields > FIELDS_MAX) throw tooMuch(`asks for more than ${FIELDS_MAX} fields`);
      if (selection.kind === Kind.FIELD) {
        here++;
        if (selection.selectionSet) count(selection.selectionSet, depth + 1);
      } else {
        const spread =
          selection.kind === Kind.INLINE_FRAGMENT
            ? selection.selectionSet
            : fragments.get(selection.name.value)?.selectionSet;
        if (spread) here += count(spread, depth + 1);
      }
    }
    return here;
  }

  const operations = definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION);
  if (operations.length > OPERATIONS_MAX) throw tooMuch(`has more than ${OPERATIONS_MAX} operations`);
  for (const { selectionSet } of operations) {
    if (count(selectionSet, 1) > ROOT_FIELDS_MAX)
      throw tooMuch(`asks for more than ${ROOT_FIELDS_MAX} objects at once`);
  }
  for (const { selectionSet } of fragments.values()) count(selectionSet, 1); // including those that no operation spreads
}

const tooMuch = (what: string): AppError =>
  new AppError('invalid_request', `The GraphQL document ${what}. Split it into several requests.`, { param: 'query' });
