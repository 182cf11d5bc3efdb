// The recogniser, which reads a text byte by byte: a pushdown automaton whose state is a set of places. A place is what is being
// read (a lexeme, a key, a gap) with the stack of open frames. Every reachable state can be completed: keys, items and counts are
// checked before each step. Equal places are one object, so that steps can be cached. Does not know tokens.
import { TooComplex, type Term, type Terms } from '../lexemes/terms.ts';
import { arrayFeasible, choicesAt, counted, objectFeasible } from './feasible.ts';
import { allowedKeys, hasMore, mayAddOther, mayEnd, writtenItem } from './frame-questions.ts';
import type { Form, JsonSyntax } from './forms.ts';
import { createPlaceTable } from './place-table.ts';
import type { ArrayFrame, Frame, Machine, ObjectFrame, Place } from './places.ts';
import type { ArrayShape, NamedKey, ObjectShape, Obligation } from './shapes.ts';

const [QUOTE, COMMA, COLON, OPEN_BRACE, CLOSE_BRACE, OPEN, CLOSE] = [0x22, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d];
const EXPANSION_MAX = 20_000; // places reached by one byte

type PlaceOf<K extends Place['kind']> = Extract<Place, { kind: K }>;

export function createMachine(terms: Terms, root: Form, placesMax: number): Machine {
  /** Whether a step led to a place that depends on its position in the text. Such steps are not cached. */
  let isPositioned = false;
  let position = 0;
  let expanded = 0;
  const table = createPlaceTable(placesMax);
  const { intern, place, objectFrame, arrayFrame, setOf, idOf, end, endPlace, dead } = table;

  function lexeme(term: Term, next: Frame, out: Set<Place>): void {
    if (!terms.isAlive(term)) return;
    out.add(place<PlaceOf<'lexeme'>>(`l${term.id},${next.id}`, () => ({ kind: 'lexeme', term, next })));
    if (term.nullable) resume(next, out);
  }

  function enterValue(json: JsonSyntax, value: Obligation, next: Frame, out: Set<Place>): void {
    const form = json.forms.form(value);
    if (form.scalars !== terms.none) lexeme(form.scalars, next, out);
    const begin = (shape: ObjectShape | ArrayShape) =>
      out.add(place<PlaceOf<'begin'>>(`b${shape.id},${next.id}`, () => ({ kind: 'begin', json, shape, next })));
    for (const shape of form.objects) if (objectFeasible(shape)) begin(shape);
    for (const shape of form.arrays) if (arrayFeasible(shape)) begin(shape);
  }

  /** Adds what may follow a completed value. */
  function resume(frame: Frame, out: Set<Place>): void {
    switch (frame.kind) {
      case 'end':
        out.add(endPlace);
        return;
      case 'object':
        // prettier-ignore
        out.add(place<PlaceOf<'after'>>(`f${frame.id},${frame.json.gap.id}`, () => ({ kind: 'after', frame, gap: frame.json.gap })));
        return;
      case 'array':
        if (frame.shape.unique)
          out.add(place<PlaceOf<'written-item'>>(`i${frame.id}`, () => ({ kind: 'written-item', frame })));
        else afterItem(frame, out);
        return;
      case 'sequence':
        enterSequence(frame.parts, frame.at + 1, frame.next, out);
        return;
      case 'repeat':
        enterRepeat(frame.form, frame.count, frame.next, out);
    }
  }

  const afterItem = (frame: ArrayFrame, out: Set<Place>): void =>
    void out.add(
      place<PlaceOf<'after'>>(`f${frame.id},${frame.json.gap.id}`, () => ({
        kind: 'after',
        frame,
        gap: frame.json.gap,
      })),
    );

  const entering = new Set<string>();
  function enter(form: Form, next: Frame, out: Set<Place>): void {
    if (++expanded > EXPANSION_MAX) throw new TooComplex('it allows too many continuations at one position');
    switch (form.kind) {
      case 'term':
        lexeme(form.term, next, out);
        return;
      case 'json':
        enterValue(form.json, form.json.forms.root, next, out);
        return;
      case 'sequence':
        enterSequence(form.parts, 0, next, out);
        return;
      case 'choice':
        for (const option of form.options) enter(option, next, out);
        return;
      case 'repeat':
        enterRepeat(form, 0, next, out);
        return;
      case 'rule': {
        const key = `${form.rule.name},${next.id}`;
        if (entering.has(key)) return; // the same rule with the same continuation
        entering.add(key);
        try {
          enter(form.rule.form!, next, out);
        } finally {
          entering.delete(key);
        }
      }
    }
  }

  function enterSequence(parts: readonly Form[], at: number, next: Frame, out: Set<Place>): void {
    if (at >= parts.length) resume(next, out);
    else if (at === parts.length - 1) enter(parts[at]!, next, out);
    else
      enter(
        parts[at]!,
        intern<Extract<Frame, { kind: 'sequence' }>>(`s${idOf(parts)},${at},${next.id}`, () => ({
          kind: 'sequence',
          parts,
          at,
          next,
        })),
        out,
      );
  }

  function enterRepeat(form: Extract<Form, { kind: 'repeat' }>, times: number, next: Frame, out: Set<Place>): void {
    const key = `r${idOf(form)},${times},${next.id}`;
    if (entering.has(key)) return;
    entering.add(key);
    try {
      if (times >= form.min) resume(next, out);
      if (times >= form.max) return;
      const kept = form.max === Infinity ? Math.min(times + 1, form.min) : times + 1;
      enter(
        form.of,
        intern<Extract<Frame, { kind: 'repeat' }>>(`R${idOf(form)},${kept},${next.id}`, () => ({
          kind: 'repeat',
          form,
          count: kept,
          next,
        })),
        out,
      );
    } finally {
      entering.delete(key);
    }
  }

  // Objects.

  function named(frame: ObjectFrame, from: number, to: number, depth: number, out: Set<Place>): void {
    const allowed = allowedKeys(terms, frame);
    for (let i = from; i < to; i++)
      if (allowed[i] === 1) {
        // prettier-ignore
        out.add(place<PlaceOf<'named'>>(`n${frame.id},${from},${to},${depth}`, () => ({ kind: 'named', frame, from, to, depth })));
        return;
      }
  }

  function beginKey(frame: ObjectFrame, out: Set<Place>): void {
    named(frame, 0, frame.shape.texts.length, 0, out);
    if (!mayAddOther(frame)) return;
    frame.shape.classes.forEach(({ key, value }, which) => {
      if (value.possible) other(frame, which, key, frame.shape.counts ? position + 1 : 0, out);
    });
  }

  function other(frame: ObjectFrame, which: number, term: Term, start: number, out: Set<Place>): void {
    if (!terms.isAlive(term)) return;
    if (frame.shape.counts) isPositioned = true;
    // prettier-ignore
    out.add(place<PlaceOf<'other'>>(`e${frame.id},${which},${term.id},${start}`, () => ({ kind: 'other', frame, which, term, start })));
    if (term.nullable) behindOther(frame, which, start, out);
  }

  function behindOther(frame: ObjectFrame, which: number, start: number, out: Set<Place>): void {
    if (frame.shape.counts)
      // prettier-ignore
      out.add(place<PlaceOf<'written-key'>>(`w${frame.id},${which},${start}`, () => ({ kind: 'written-key', frame, which, start })));
    else colon(frame, frame.shape.classes[which]!.value, frame.json.space, out);
  }

  const colon = (frame: ObjectFrame, value: Obligation, gap: Term, out: Set<Place>): void =>
    void out.add(
      place<PlaceOf<'colon'>>(`c${frame.id},${value.id},${gap.id}`, () => ({ kind: 'colon', frame, value, gap })),
    );

  function value(frame: ObjectFrame, obligation: Obligation, gap: Term, out: Set<Place>): void {
    // prettier-ignore
    out.add(place<PlaceOf<'value'>>(`v${frame.id},${obligation.id},${gap.id}`, () => ({ kind: 'value', frame, value: obligation, gap })));
  }

  function key(frame: ObjectFrame, gap: Term, isFirst: boolean, out: Set<Place>): void {
    // prettier-ignore
    out.add(place<PlaceOf<'key'>>(`k${frame.id},${gap.id},${isFirst ? 1 : 0}`, () => ({ kind: 'key', frame, gap, isFirst })));
  }

  function namedEnded(frame: ObjectFrame, { index, value: of }: NamedKey, out: Set<Place>): void {
    const seen = new Set([...frame.seen, index]);
    colon(objectFrame(frame.json, frame.shape, seen, frame.others, frame.next), of, frame.json.space, out);
  }

  // Arrays.

  function mayAddItem(frame: ArrayFrame): boolean {
    return itemsAfter(frame, 0).length > 0;
  }

  function itemsAfter(frame: ArrayFrame, start: number): { value: Obligation; next: ArrayFrame }[] {
    const { shape, length, counts, json, used } = frame;
    if (length + 1 > shape.max) return [];
    return choicesAt(shape, length).flatMap((choice) => {
      if (!choice.value.possible) return [];
      const after = counted(shape, counts, choice);
      if (after === null || !arrayFeasible(shape, length + 1, after)) return [];
      const of =
        shape.unique && used.length > 0 ? json.forms.except(choice.value, shape.unique.key, used) : choice.value;
      return of.possible
        ? [{ value: of, next: arrayFrame(json, shape, length + 1, after, used, start, frame.next) }]
        : [];
    });
  }

  function beginItem(frame: ArrayFrame, at: number, out: Set<Place>): void {
    if (frame.shape.unique) isPositioned = true;
    for (const { value: of, next } of itemsAfter(frame, frame.shape.unique ? at : 0))
      enterValue(frame.json, of, next, out);
  }

  const item = (frame: ArrayFrame, gap: Term, isFirst: boolean, out: Set<Place>): void =>
    void out.add(
      place<PlaceOf<'item'>>(`t${frame.id},${gap.id},${isFirst ? 1 : 0}`, () => ({
        kind: 'item',
        frame,
        gap,
        isFirst,
      })),
    );

  // Steps.

  function stepPlace(at: Place, byte: number, out: Set<Place>): void {
    switch (at.kind) {
      case 'end':
      case 'written-key':
      case 'written-item':
        return;
      case 'lexeme':
        lexeme(terms.derive(at.term, byte), at.next, out);
        return;
      case 'begin': {
        const { shape, json, next } = at;
        if (shape.kind === 'object' && byte === OPEN_BRACE)
          key(objectFrame(json, shape, new Set(), [], next), json.gap, true, out);
        if (shape.kind === 'array' && byte === OPEN)
          item(
            arrayFrame(
              json,
              shape,
              0,
              shape.contained.map(() => 0),
              [],
              0,
              next,
            ),
            json.gap,
            true,
            out,
          );
        return;
      }
      case 'key': {
        const { frame, gap, isFirst } = at;
        if (gap.nullable && byte === QUOTE) beginKey(frame, out);
        if (gap.nullable && isFirst && byte === CLOSE_BRACE && mayEnd(frame)) resume(frame.next, out);
        const rest = terms.derive(gap, byte);
        if (terms.isAlive(rest)) key(frame, rest, isFirst, out);
        return;
      }
      case 'named': {
        const { frame, depth } = at;
        const { texts, sorted, keys } = frame.shape;
        let { from } = at;
        while (from < at.to && texts[from]![depth]! < byte) from++;
        let to = from;
        while (to < at.to && texts[to]![depth] === byte) to++;
        if (from === to) return;
        if (byte === QUOTE && texts[from]!.length === depth + 1) {
          if (allowedKeys(terms, frame)[from] === 1) namedEnded(frame, keys[sorted[from]!]!, out);
          return;
        }
        named(frame, from, to, depth + 1, out);
        return;
      }
      case 'other':
        other(at.frame, at.which, terms.derive(at.term, byte), at.start, out);
        return;
      case 'colon': {
        if (at.gap.nullable && byte === COLON) value(at.frame, at.value, at.frame.json.space, out);
        const rest = terms.derive(at.gap, byte);
        if (terms.isAlive(rest)) colon(at.frame, at.value, rest, out);
        return;
      }
      case 'value': {
        if (at.gap.nullable) stepFresh((fresh) => enterValue(at.frame.json, at.value, at.frame, fresh), byte, out);
        const rest = terms.derive(at.gap, byte);
        if (terms.isAlive(rest)) value(at.frame, at.value, rest, out);
        return;
      }
      case 'item': {
        const { frame, gap, isFirst } = at;
        if (gap.nullable && isFirst && byte === CLOSE && mayEnd(frame)) resume(frame.next, out);
        if (gap.nullable) stepFresh((fresh) => beginItem(frame, position, fresh), byte, out);
        const rest = terms.derive(gap, byte);
        if (terms.isAlive(rest)) item(frame, rest, isFirst, out);
        return;
      }
      case 'after': {
        const { frame, gap } = at;
        const isObjectFrame = frame.kind === 'object';
        const isEnough = mayEnd(frame);
        if (byte === COMMA && gap === frame.json.gap) {
          if (frame.kind === 'array' && mayAddItem(frame)) item(frame, frame.json.gap, false, out);
          if (frame.kind === 'object' && hasMore(terms, frame)) key(frame, frame.json.gap, false, out);
        }
        if (!isEnough) return;
        if (gap.nullable && byte === (isObjectFrame ? CLOSE_BRACE : CLOSE)) resume(frame.next, out);
        const rest = terms.derive(gap, byte);
        if (terms.isAlive(rest))
          out.add(place<PlaceOf<'after'>>(`f${frame.id},${rest.id}`, () => ({ kind: 'after', frame, gap: rest })));
      }
    }
  }

  /** Starts here, and steps one byte further. */
  function stepFresh(begin: (fresh: Set<Place>) => void, byte: number, out: Set<Place>): void {
    const fresh = new Set<Place>();
    begin(fresh);
    for (const each of fresh) stepPlace(each, byte, out);
  }

  return {
    dead,
    get start() {
      const out = new Set<Place>();
      enter(root, end, out);
      return setOf([...out]);
    },
    step(set, byte, at) {
      const found = set.next[byte];
      if (found) return found;
      position = at;
      isPositioned = false;
      expanded = 0;
      const out = new Set<Place>();
      for (const each of set.places) stepPlace(each, byte, out);
      const next = setOf([...out]);
      if (!isPositioned) set.next[byte] = next;
      return next;
    },
    settle(set, text) {
      if (!set.places.some(({ kind }) => kind === 'written-key' || kind === 'written-item')) return set;
      const out = new Set<Place>();
      for (const each of set.places) {
        if (each.kind === 'written-key') {
          const { frame, which, start } = each;
          const name = Buffer.from(text.subarray(start)).toString();
          const others = frame.others.includes(name) ? frame.others : [...frame.others, name];
          colon(
            objectFrame(frame.json, frame.shape, frame.seen, others, frame.next),
            frame.shape.classes[which]!.value,
            frame.json.space,
            out,
          );
        } else if (each.kind === 'written-item') {
          const { frame } = each;
          const used = [...frame.used, writtenItem(frame, text)];
          const { json, shape, length, counts, next } = frame;
          afterItem(arrayFrame(json, shape, length, counts, used, frame.start, next), out);
        } else out.add(each);
      }
      return setOf([...out]);
    },
    behind(places, at) {
      position = at;
      const out = new Set<Place>();
      for (const each of places) {
        if (each.kind === 'lexeme') resume(each.next, out);
        else if (each.kind === 'other') behindOther(each.frame, each.which, each.start, out);
      }
      return setOf([...out].filter(({ kind }) => kind !== 'end' && kind !== 'written-item' && kind !== 'written-key'));
    },
    allowedNames: (frame) => allowedKeys(terms, frame),
    behindName(frame, name) {
      const out = new Set<Place>();
      namedEnded(frame, frame.shape.keys[frame.shape.sorted[name]!]!, out);
      return setOf([...out]);
    },
    setOf,
    memory: table,
  };
}
