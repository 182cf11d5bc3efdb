// How unique items of an array are enforced: the items are scalars with enough different values, or objects with a named key that has
// enough different values, which each of them then has. If neither is possible, the array has at most one item. Each item forbids itself
// to the later ones, so their number is limited: after the last one, the array closes.
import type { Terms } from '../lexemes/terms.ts';
import type { Json } from './refusal.ts';
import type { ArrayShape, ItemChoice, ObjectShape, Obligation, ValueForm } from './shapes.ts';

const UNIQUE_MAX = 1_000;
const SCALARS = ['null', 'boolean', 'number', 'string'];
const OTHERS =
  '`uniqueItems` is enforced for scalars, and for objects with a property that has enough different scalars';

interface FormBuilder {
  readonly terms: Terms;
  readonly formOf: (obligation: Obligation) => ValueForm;
  /** The choices of the item for which this schema holds, too. */
  readonly only: (of: Obligation, schema: Json) => ItemChoice[][];
}

interface Narrowed {
  readonly form: Partial<ArrayShape>;
  /** Why longer arrays than it allows cannot be written, though they may satisfy the schema; null: they do not. */
  readonly unenforced: string | null;
}

/** `shape.unique` is not null. */
export function uniqueForm(shape: ArrayShape, builder: FormBuilder): Narrowed {
  const { terms, formOf, only } = builder;
  const unique = shape.unique!;
  if (shape.min > UNIQUE_MAX)
    return { form: { max: 1, unique: null }, unenforced: `\`uniqueItems\` is enforced for up to ${UNIQUE_MAX} items` };
  const { value } = shape.items.at(-1)![0]!;
  const isPlain = shape.items.length === 1 && shape.contained.length === 0;
  const form = isPlain && value.possible ? formOf(value) : null;
  const max = Math.min(shape.max, UNIQUE_MAX);
  const needed = Math.max(shape.min, 2);
  if (form !== null) {
    const { scalars, objects } = form;
    if (scalars !== terms.none && terms.count(scalars, needed) >= needed)
      return { form: { max, unique, items: only(value, { type: SCALARS }) }, unenforced: null };
    const key = differing(builder, objects, needed);
    if (key !== null) {
      const items = only(value, { type: ['object'], required: [key] });
      return { form: { max, unique: { ...unique, key }, items }, unenforced: null };
    }
  }
  const isBeyond = form === null || form.objects.length + form.arrays.length > 0;
  return { form: { max: Math.min(shape.max, 1), unique: null }, unenforced: isBeyond ? OTHERS : null };
}

/** The key with the most different scalars, among those that every object may have; one that all require, if there is no more to choose. */
function differing({ terms, formOf }: FormBuilder, objects: readonly ObjectShape[], needed: number): string | null {
  const countIn = (shape: ObjectShape, name: string): number => {
    const key = shape.keys.find((each) => each.name === name);
    return key?.value.possible ? terms.count(formOf(key.value).scalars, UNIQUE_MAX) : 0;
  };
  const found = (objects[0]?.keys ?? [])
    .map(({ name, required }) => ({
      name,
      count: Math.min(...objects.map((shape) => countIn(shape, name))) + (required ? 0.5 : 0),
    }))
    .filter(({ count }) => count >= needed)
    .sort((a, b) => b.count - a.count);
  return found[0]?.name ?? null;
}
