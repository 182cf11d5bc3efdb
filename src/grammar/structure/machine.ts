// The recogniser, which reads a text byte by byte: a pushdown automaton whose state is a set of places. A place is what is being
// read (a lexeme, a key, a gap) with the stack of open frames. Every reachable state can be completed: keys, items and counts are
// checked before each step. Equal places are one object, so that steps can be cached. Does not know tokens.
import type { Term, Terms } from '../lexemes/terms.ts';
import { Continuations } from './continuations.ts';
import { allowedKeys, hasMore, mayEnd, writtenItem } from './frame-questions.ts';
import type { Form } from './forms.ts';
import { createPlaceTable, END } from './place-table.ts';
import type { Machine, Place } from './places.ts';

const [QUOTE, COMMA, COLON, OPEN_BRACE, CLOSE_BRACE, OPEN, CLOSE] = [0x22, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d];

type PlaceOf<K extends Place['kind']> = Extract<Place, { kind: K }>;
type Out = Set<Place>;

export function createMachine(terms: Terms, root: Form, placesMax: number): Machine {
  const table = createPlaceTable(placesMax);
  const to = new Continuations(terms, table);
  const step = createStep(terms, to);
  const { setOf } = table;
  const collected = (collect: (out: Out) => void) => {
    const out: Out = new Set();
    collect(out);
    return setOf([...out]);
  };
  return {
    dead: table.dead,
    get start() {
      return collected((out) => to.enter(root, END, out));
    },
    step(set, byte, position) {
      const found = set.next[byte];
      if (found) return found;
      to.startAt(position);
      const next = collected((out) => {
        for (const place of set.places) step(place, byte, out);
      });
      if (!to.isPositioned) set.next[byte] = next;
      return next;
    },
    settle(set, text) {
      if (!set.places.some(isWritten)) return set;
      return collected((out) => {
        for (const place of set.places) out.add(isWritten(place) ? settled(to, place, text) : place);
      });
    },
    behind(places, position) {
      to.position = position;
      const out: Out = new Set();
      for (const place of places) {
        if (place.kind === 'lexeme') to.resume(place.next, out);
        else if (place.kind === 'other') to.behindOther(place.frame, place.which, place.start, out);
      }
      return setOf([...out].filter((place) => place.kind !== 'end' && !isWritten(place)));
    },
    allowedNames: (frame) => allowedKeys(terms, frame),
    behindName: (frame, name) =>
      collected((out) => to.behindNamed(frame, frame.shape.keys[frame.shape.sorted[name]!]!, out)),
    setOf,
    memory: table,
  };
}

const isWritten = (place: Place): place is PlaceOf<'written-key'> | PlaceOf<'written-item'> =>
  place.kind === 'written-key' || place.kind === 'written-item';

/** Where the text goes on behind a key or an item that is complete. */
function settled({ make }: Continuations, place: PlaceOf<'written-key' | 'written-item'>, text: Uint8Array): Place {
  if (place.kind === 'written-item') {
    const { frame } = place;
    const used = [...frame.used, writtenItem(frame, text)];
    return make.after(make.array({ ...frame, used }), frame.json.gap);
  }
  const { frame, which, start } = place;
  const name = Buffer.from(text.subarray(start)).toString();
  const others = frame.others.includes(name) ? frame.others : [...frame.others, name];
  return make.colon(make.object({ ...frame, others }), frame.shape.classes[which]!.value, frame.json.space);
}

/** Adds what a byte leads to from one place. */
function createStep(terms: Terms, to: Continuations) {
  const { make } = to;

  function step(place: Place, byte: number, out: Out): void {
    switch (place.kind) {
      case 'end':
      case 'written-key':
      case 'written-item':
        return;
      case 'lexeme':
        to.lexeme(terms.derive(place.term, byte), place.next, out);
        return;
      case 'other':
        to.other(place.frame, place.which, terms.derive(place.term, byte), place.start, out);
        return;
      case 'begin':
        open(place, byte, out);
        return;
      case 'named':
        stepNamed(place, byte, out);
        return;
      case 'key': {
        const { frame, gap, isFirst } = place;
        if (gap.nullable && byte === QUOTE) to.beginKey(frame, out);
        if (gap.nullable && isFirst && byte === CLOSE_BRACE && mayEnd(frame)) to.resume(frame.next, out);
        stepGap(gap, byte, (rest) => out.add(make.key(frame, rest, isFirst)));
        return;
      }
      case 'colon': {
        const { frame, value, gap } = place;
        if (gap.nullable && byte === COLON) out.add(make.value(frame, value, frame.json.space));
        stepGap(gap, byte, (rest) => out.add(make.colon(frame, value, rest)));
        return;
      }
      case 'value': {
        const { frame, value, gap } = place;
        if (gap.nullable) stepFrom((fresh) => to.enterValue(frame.json, value, frame, fresh), byte, out);
        stepGap(gap, byte, (rest) => out.add(make.value(frame, value, rest)));
        return;
      }
      case 'item': {
        const { frame, gap, isFirst } = place;
        if (gap.nullable && isFirst && byte === CLOSE && mayEnd(frame)) to.resume(frame.next, out);
        if (gap.nullable) stepFrom((fresh) => to.beginItem(frame, fresh), byte, out);
        stepGap(gap, byte, (rest) => out.add(make.item(frame, rest, isFirst)));
        return;
      }
      case 'after':
        stepAfter(place, byte, out);
    }
  }

  function open({ shape, json, next }: PlaceOf<'begin'>, byte: number, out: Out): void {
    if (shape.kind === 'object' && byte === OPEN_BRACE)
      out.add(make.key(make.object({ json, shape, seen: new Set(), others: [], next }), json.gap, true));
    if (shape.kind === 'array' && byte === OPEN) {
      const counts = shape.contained.map(() => 0);
      out.add(make.item(make.array({ json, shape, length: 0, counts, used: [], start: 0, next }), json.gap, true));
    }
  }

  function stepNamed(place: PlaceOf<'named'>, byte: number, out: Out): void {
    const { frame, depth } = place;
    const { texts, sorted, keys } = frame.shape;
    let { from } = place;
    while (from < place.to && texts[from]![depth]! < byte) from++;
    let end = from;
    while (end < place.to && texts[end]![depth] === byte) end++;
    if (from === end) return;
    const isWhole = byte === QUOTE && texts[from]!.length === depth + 1;
    if (!isWhole) to.named(frame, from, end, depth + 1, out);
    else if (allowedKeys(terms, frame)[from] === 1) to.behindNamed(frame, keys[sorted[from]!]!, out);
  }

  function stepAfter({ frame, gap }: PlaceOf<'after'>, byte: number, out: Out): void {
    const isEnough = mayEnd(frame);
    if (byte === COMMA && gap === frame.json.gap) {
      if (frame.kind === 'array' && to.mayAddItem(frame)) out.add(make.item(frame, frame.json.gap, false));
      if (frame.kind === 'object' && hasMore(terms, frame)) out.add(make.key(frame, frame.json.gap, false));
    }
    if (!isEnough) return;
    if (gap.nullable && byte === (frame.kind === 'object' ? CLOSE_BRACE : CLOSE)) to.resume(frame.next, out);
    stepGap(gap, byte, (rest) => out.add(make.after(frame, rest)));
  }

  /** White space that goes on. */
  function stepGap(gap: Term, byte: number, add: (rest: Term) => void): void {
    const rest = terms.derive(gap, byte);
    if (terms.isAlive(rest)) add(rest);
  }

  /** Begins here, and steps one byte further. */
  function stepFrom(begin: (fresh: Out) => void, byte: number, out: Out): void {
    const fresh: Out = new Set();
    begin(fresh);
    for (const place of fresh) step(place, byte, out);
  }

  return step;
}
