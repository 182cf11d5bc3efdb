// How unique items of an array are enforced: the items are scalars with enough different values, or objects with a required key that
// has enough different values. If neither is possible, the array has at most one item. Each item forbids itself to the later ones, so
// their number is limited: after the last one, the array closes.
import type { Terms } from '../lexemes/terms.ts';
import type { ArrayShape, ItemChoice, ObjectShape, Obligation, ValueForm } from './shapes.ts';

const UNIQUE_MAX = 1_000;
const SCALARS = ['null', 'boolean', 'number', 'string'];

interface FormBuilder {
  readonly terms: Terms;
  readonly formOf: (obligation: Obligation) => ValueForm;
  /** The choices of the item, limited to these types. */
  readonly only: (of: Obligation, types: readonly string[]) => ItemChoice[][];
}

export function uniqueForm(shape: ArrayShape, builder: FormBuilder): Partial<ArrayShape> {
  const { terms, formOf, only } = builder;
  const last = shape.items.at(-1)!;
  const isPlain = shape.items.length === 1 && shape.contained.length === 0;
  const { value } = last[0]!;
  const form = isPlain && value.possible ? formOf(value) : null;
  if (form === null) return { max: Math.min(shape.max, 1), unique: null };
  if (shape.min > UNIQUE_MAX) return { max: 1, unique: null }; // no array satisfies this
  const max = Math.min(shape.max, UNIQUE_MAX);
  const needed = shape.min;
  if (form.scalars !== terms.none) {
    const size = terms.count(form.scalars, Math.max(needed, 2));
    if (size >= Math.max(needed, 2)) return { max, unique: { key: null }, items: only(value, SCALARS) };
  }
  const key = differing(builder, form.objects, Math.max(needed, 2));
  if (key !== null) return { max, unique: { key }, items: only(value, ['object']) };
  return { max: Math.min(shape.max, 1), unique: null };
}

/** A key that every object requires, with enough different scalars as values. */
function differing({ terms, formOf }: FormBuilder, objects: readonly ObjectShape[], needed: number): string | null {
  const candidates = objects[0]?.keys.filter(({ required }) => required).map(({ name }) => name) ?? [];
  const fits = (shape: ObjectShape, name: string) => {
    const key = shape.keys.find((each) => each.name === name);
    if (!key?.required || !key.value.possible) return false;
    const { scalars } = formOf(key.value);
    return scalars !== terms.none && terms.count(scalars, needed) >= needed;
  };
  return candidates.find((name) => objects.every((shape) => fits(shape, name))) ?? null;
}
