// Converts an ECMA-262 regular expression into a term: of the texts that match as a whole, or that contain a match. Anchors and
// look-ahead are exact, because terms have intersection and complement. Constructs that are not regular (back references,
// look-behind, word boundaries) are refused by name.
import type { Range } from '../gbnf.ts';
import { ANY, anyText, characterTerm, type TextForm } from './characters.ts';
import { openBefore, openBehind } from './open-ends.ts';
import { readPattern, type Node } from './pattern-reader.ts';
import type { Term, Terms } from './terms.ts';

/** Throws Error with the reason. `part`: the text contains a match, as in JSON Schema; `whole`: the whole text is the match. */
export function patternTerm(terms: Terms, pattern: string, form: TextForm, extent: 'part' | 'whole'): Term {
  terms.spend(pattern.length);
  const node = readPattern(pattern);
  const any = anyText(terms, form);
  const compiler = createCompiler(terms, form, any);
  const texts = (term: Term) => (term.isPlain ? term : terms.and([any, term])); // plain terms consist of characters
  if (extent === 'whole') return texts(compiler(node, terms.empty, true));
  const open = openBehind(node);
  const later = compiler(openBefore(open), any, false);
  const some = terms.repeat(characterTerm(terms, ANY, form), 1, Infinity);
  return texts(terms.or([compiler(open, any, true), terms.concat([some, later])]));
}

const UNROLLED_MAX = 16;

/** Converts a node and what follows it into a term. */
function createCompiler(terms: Terms, form: TextForm, any: Term) {
  const classes = new Map<readonly Range[], Term>();
  function compile(node: Node, then: Term, atStart: boolean): Term {
    if (!hasWidthless(node)) return terms.concat([plain(node), then]);
    switch (node.kind) {
      case 'start':
        return atStart ? then : terms.none;
      case 'end':
        return then.nullable ? terms.empty : terms.none;
      case 'ahead': {
        const ahead = compile(node.of, any, atStart);
        return terms.and([then, node.negative ? terms.not(ahead) : ahead]);
      }
      case 'choice':
        return terms.or(node.parts.map((part) => compile(part, then, atStart)));
      case 'sequence': {
        const starts = startsOf(node.parts, atStart);
        return node.parts.reduceRight((rest, part, i) => compile(part, rest, starts[i]!), then);
      }
      case 'repeat': {
        if (node.max > UNROLLED_MAX)
          throw new Error('anchors and look-ahead inside `*`, `+` or `{…}` are not supported');
        let rest = then;
        for (let i = node.max; i > 0; i--) {
          const one = compile(node.of, rest, atStart && i === 1);
          rest = i > node.min ? terms.or([then, one]) : one;
        }
        return rest;
      }
      case 'class':
        throw new Error('unreachable');
    }
  }

  function plain(node: Node): Term {
    switch (node.kind) {
      case 'class': {
        const known = classes.get(node.ranges) ?? characterTerm(terms, node.ranges, form);
        classes.set(node.ranges, known);
        return known;
      }
      case 'sequence':
        return terms.concat(node.parts.map(plain));
      case 'choice': {
        const words = node.parts.map(wordOf);
        const others = node.parts.filter((_, i) => words[i] === null).map(plain);
        return terms.or([terms.words(words.filter((word) => word !== null)), ...others]);
      }
      case 'repeat':
        return terms.repeat(plain(node.of), node.min, node.max);
      case 'start':
      case 'end':
      case 'ahead':
        throw new Error('unreachable');
    }
  }
  return compile;
}

/** Returns null if the node matches more than one word, or a word with characters that JSON escapes or may escape. */
function wordOf(node: Node): string | null {
  const parts = node.kind === 'sequence' ? node.parts : [node];
  const letters = parts.map((part) => {
    if (part.kind !== 'class' || part.ranges.length !== 1) return '/';
    const [from, to] = part.ranges[0]!;
    return from === to && from >= 0x20 && from < 0x7f ? String.fromCharCode(from) : '/';
  });
  const word = letters.join('');
  return /["\\/]/.test(word) ? null : word;
}

/** For each part, whether it is at the start of the text. */
function startsOf(parts: readonly Node[], atStart: boolean): boolean[] {
  let isStart = atStart;
  let isUnclear = false;
  return parts.map((part) => {
    if (isUnclear && hasStart(part)) throw new Error('`^` after a part that may be empty is not supported');
    const own = isStart;
    if (!isWidthless(part)) {
      if (isStart && minLength(part) === 0) isUnclear = true;
      else if (minLength(part) > 0) isUnclear = false;
      isStart = false;
    }
    return own;
  });
}

function hasWidthless(node: Node): boolean {
  switch (node.kind) {
    case 'class':
      return false;
    case 'sequence':
    case 'choice':
      return node.parts.some(hasWidthless);
    case 'repeat':
      return hasWidthless(node.of);
    case 'start':
    case 'end':
    case 'ahead':
      return true;
  }
}

function hasStart(node: Node): boolean {
  if (node.kind === 'start') return true;
  if (node.kind === 'sequence' || node.kind === 'choice') return node.parts.some(hasStart);
  return (node.kind === 'repeat' || node.kind === 'ahead') && hasStart(node.of);
}

function isWidthless(node: Node): boolean {
  if (node.kind === 'sequence' || node.kind === 'choice') return node.parts.every(isWidthless);
  if (node.kind === 'repeat') return isWidthless(node.of);
  return node.kind !== 'class';
}

function minLength(node: Node): number {
  switch (node.kind) {
    case 'class':
      return 1;
    case 'sequence':
      return node.parts.reduce((sum, part) => sum + minLength(part), 0);
    case 'choice':
      return node.parts.reduce((least, part) => Math.min(least, minLength(part)), Infinity);
    case 'repeat':
      return node.min * minLength(node.of);
    case 'start':
    case 'end':
    case 'ahead':
      return 0;
  }
}
