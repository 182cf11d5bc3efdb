// What may come next: the places that begin a form, a value, a key or an item, and those behind a completed value. Adds them to a
// set. Does not read bytes: machine.ts steps from these places.
import { TooComplex, type Term, type Terms } from '../lexemes/terms.ts';
import { arrayFeasible, choicesAt, counted, objectFeasible } from './feasible.ts';
import { allowedKeys, mayAddOther } from './frame-questions.ts';
import type { Form, JsonSyntax } from './forms.ts';
import { createPlaceMakers, type PlaceMakers } from './place-makers.ts';
import { END, type PlaceTable } from './place-table.ts';
import type { ArrayFrame, Frame, ObjectFrame, Place } from './places.ts';
import type { NamedKey, Obligation } from './shapes.ts';

const EXPANSION_MAX = 20_000; // places reached by one byte

type Out = Set<Place>;

export class Continuations {
  readonly make: PlaceMakers;
  /** Bytes before the one that is read. */
  position = 0;
  /** Whether a place was reached that depends on its position in the text. Such steps are not cached. */
  isPositioned = false;
  private expanded = 0;
  /** What is being entered, so that a rule does not enter itself with the same continuation. */
  private readonly entering = new Set<string>();
  private readonly terms: Terms;
  private readonly idOf: PlaceTable['idOf'];

  constructor(terms: Terms, table: PlaceTable) {
    this.terms = terms;
    this.idOf = table.idOf;
    this.make = createPlaceMakers(table);
  }

  /** Begins to collect what one byte leads to. */
  startAt(position: number): void {
    this.position = position;
    this.isPositioned = false;
    this.expanded = 0;
  }

  lexeme(term: Term, next: Frame, out: Out): void {
    if (!this.terms.isAlive(term)) return;
    out.add(this.make.lexeme(term, next));
    if (term.nullable) this.resume(next, out);
  }

  /** Adds what may follow a completed value. */
  resume(frame: Frame, out: Out): void {
    switch (frame.kind) {
      case 'end':
        out.add(END);
        return;
      case 'object':
        out.add(this.make.after(frame, frame.json.gap));
        return;
      case 'array':
        out.add(frame.shape.unique ? this.make.writtenItem(frame) : this.make.after(frame, frame.json.gap));
        return;
      case 'sequence':
        this.enterSequence(frame.parts, frame.at + 1, frame.next, out);
        return;
      case 'repeat':
        this.enterRepeat(frame.form, frame.count, frame.next, out);
    }
  }

  enter(form: Form, next: Frame, out: Out): void {
    if (++this.expanded > EXPANSION_MAX) throw new TooComplex('it allows too many continuations at one position');
    switch (form.kind) {
      case 'term':
        this.lexeme(form.term, next, out);
        return;
      case 'json':
        this.enterValue(form.json, form.json.forms.root, next, out);
        return;
      case 'sequence':
        this.enterSequence(form.parts, 0, next, out);
        return;
      case 'choice':
        for (const option of form.options) this.enter(option, next, out);
        return;
      case 'repeat':
        this.enterRepeat(form, 0, next, out);
        return;
      case 'rule':
        this.once(`${form.rule.name},${next.id}`, () => this.enter(form.rule.form!, next, out));
    }
  }

  private once(key: string, enter: () => void): void {
    if (this.entering.has(key)) return;
    this.entering.add(key);
    try {
      enter();
    } finally {
      this.entering.delete(key);
    }
  }

  private enterSequence(parts: readonly Form[], at: number, next: Frame, out: Out): void {
    if (at >= parts.length) this.resume(next, out);
    else if (at === parts.length - 1) this.enter(parts[at]!, next, out);
    else this.enter(parts[at]!, this.make.sequence(parts, at, next), out);
  }

  private enterRepeat(form: Extract<Form, { kind: 'repeat' }>, times: number, next: Frame, out: Out): void {
    this.once(`r${this.idOf(form)},${times},${next.id}`, () => {
      if (times >= form.min) this.resume(next, out);
      if (times >= form.max) return;
      const kept = form.max === Infinity ? Math.min(times + 1, form.min) : times + 1;
      this.enter(form.of, this.make.repeat(form, kept, next), out);
    });
  }

  enterValue(json: JsonSyntax, value: Obligation, next: Frame, out: Out): void {
    const form = json.forms.form(value);
    if (form.scalars !== this.terms.none) this.lexeme(form.scalars, next, out);
    for (const shape of form.objects) if (objectFeasible(shape)) out.add(this.make.begin(json, shape, next));
    for (const shape of form.arrays) if (arrayFeasible(shape)) out.add(this.make.begin(json, shape, next));
  }

  // Objects.

  beginKey(frame: ObjectFrame, out: Out): void {
    const { texts, classes, counts } = frame.shape;
    this.named(frame, 0, texts.length, 0, out);
    if (!mayAddOther(frame)) return;
    for (const [which, { key, value }] of classes.entries())
      if (value.possible) this.other(frame, which, key, counts ? this.position + 1 : 0, out);
  }

  /** A key that the schema names: one of the sorted texts from `from` to `to`, which are equal up to `depth`. */
  named(frame: ObjectFrame, from: number, to: number, depth: number, out: Out): void {
    const isAnyAllowed = allowedKeys(this.terms, frame).subarray(from, to).includes(1);
    if (isAnyAllowed) out.add(this.make.named(frame, from, to, depth));
  }

  behindNamed(frame: ObjectFrame, { index, value }: NamedKey, out: Out): void {
    const after = this.make.object({ ...frame, seen: new Set([...frame.seen, index]) });
    out.add(this.make.colon(after, value, frame.json.space));
  }

  /** A key that the schema does not name. */
  other(frame: ObjectFrame, which: number, term: Term, start: number, out: Out): void {
    if (!this.terms.isAlive(term)) return;
    if (frame.shape.counts) this.isPositioned = true;
    out.add(this.make.other(frame, which, term, start));
    if (term.nullable) this.behindOther(frame, which, start, out);
  }

  behindOther(frame: ObjectFrame, which: number, start: number, out: Out): void {
    const { counts, classes } = frame.shape;
    if (counts) out.add(this.make.writtenKey(frame, which, start));
    else out.add(this.make.colon(frame, classes[which]!.value, frame.json.space));
  }

  // Arrays.

  beginItem(frame: ArrayFrame, out: Out): void {
    if (frame.shape.unique) this.isPositioned = true;
    for (const { value, next } of this.itemsAfter(frame, frame.shape.unique ? this.position : 0))
      this.enterValue(frame.json, value, next, out);
  }

  mayAddItem(frame: ArrayFrame): boolean {
    return this.itemsAfter(frame, 0).length > 0;
  }

  private itemsAfter(frame: ArrayFrame, start: number): { value: Obligation; next: ArrayFrame }[] {
    const { shape, counts, json, used } = frame;
    const length = frame.length + 1;
    if (length > shape.max) return [];
    return choicesAt(shape, frame.length).flatMap((choice) => {
      if (!choice.value.possible) return [];
      const after = counted(shape, counts, choice);
      if (after === null || !arrayFeasible(shape, length, after)) return [];
      const isRepeatable = !shape.unique || used.length === 0;
      const value = isRepeatable ? choice.value : json.forms.except(choice.value, shape.unique.key, used);
      return value.possible ? [{ value, next: this.make.array({ ...frame, length, counts: after, start }) }] : [];
    });
  }
}
