// Changes that make something odd of something valid: of JSON values, of bytes and of texts. Each is small, so that what is changed is
// still read to the place of the change.
import type { Random } from '../../../src/base/random.ts';

export const oneOf = <T>(list: readonly T[], random: Random): T => list[random.integer(list.length)]!;

const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
export const ODD_NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.5,
  127,
  256,
  65_536,
  2 ** 31,
  2 ** 32,
  -(2 ** 31),
  2 ** 53,
  1e9,
  1e308,
  -1e308,
  5e-324,
];
export const ODD_TEXTS = [
  '',
  ' ',
  '\0',
  'a'.repeat(5_000),
  '\u202e',
  '\ud800',
  '__proto__',
  'constructor',
  '../..',
  '-1',
  'NaN',
  '%00',
  '🙂',
  '{{',
  '\x1b[2J',
  '[',
  'null',
];
const ODD_VALUES: readonly unknown[] = [
  ...ODD_NUMBERS,
  ...ODD_TEXTS,
  null,
  true,
  false,
  [],
  {},
  [[]],
  { '': 0 },
  deep(100),
  deep(200),
];

export const oddValue = (random: Random): unknown => structuredClone(oneOf(ODD_VALUES, random));

type Parent = Record<string, unknown>;

/** All places of a value: the object or list, and the key. */
function placesOf(value: unknown, placesMax: number): [Parent, string][] {
  const found: [Parent, string][] = [];
  const open = [value];
  while (open.length > 0 && found.length < placesMax) {
    const each = open.pop();
    if (typeof each !== 'object' || each === null) continue;
    for (const key of Object.keys(each)) {
      found.push([each as Parent, key]);
      open.push((each as Parent)[key]);
    }
  }
  return found;
}

const copyOf = ([parent, key]: [Parent, string]): unknown => structuredClone(parent[key]);

/** Changes a copy in one to `times` places. */
export function mutateJson(value: unknown, random: Random, times = 2): unknown {
  const whole: Parent = { value: structuredClone(value) };
  for (let i = 0; i <= random.integer(times); i++) {
    const places = placesOf(whole, 2_000);
    const [parent, key] = oneOf(places, random);
    const kind = random.integer(6);
    if (kind === 0 && key !== 'value') delete parent[key];
    else if (kind === 1 && Array.isArray(parent[key]))
      parent[key] = Array.from({ length: 50 }, () => structuredClone(parent[key]) as unknown[]).flat();
    else if (kind === 2) parent[key] = copyOf(oneOf(places, random));
    else if (kind === 3) parent[oneOf(ODD_TEXTS, random).slice(0, 20)] = oddValue(random);
    else parent[key] = oddValue(random);
  }
  return whole['value'];
}

/** Changes a copy of the bytes, mostly before `soonest`: a header. */
export function mutateBytes(bytes: Uint8Array, random: Random, soonest = bytes.length): Uint8Array {
  let changed = Buffer.from(bytes);
  for (let i = 0; i <= random.integer(3); i++) {
    const at = random.integer(Math.max(1, random.next() < 0.8 ? Math.min(soonest, changed.length) : changed.length));
    const kind = random.integer(6);
    if (changed.length < 16 || kind === 0)
      changed = Buffer.concat([changed, Buffer.alloc(random.integer(40), random.integer(256))]);
    else if (kind === 1) changed = changed.subarray(0, at);
    else if (kind === 2) changed[at] = random.integer(256);
    else if (kind === 3)
      changed.writeUInt32LE(
        oneOf([0, 1, 0xff, 0xffff, 0x7fffffff, 0xffffffff], random),
        Math.min(at, changed.length - 4),
      );
    else if (kind === 4)
      changed.writeBigUInt64LE(
        oneOf([0n, 1n, 1n << 32n, 1n << 53n, (1n << 63n) - 1n, (1n << 64n) - 1n], random),
        Math.min(at, changed.length - 8),
      );
    else
      changed = Buffer.concat([
        changed.subarray(0, at),
        changed.subarray(at, at + random.integer(64)),
        changed.subarray(at),
      ]);
  }
  return new Uint8Array(changed);
}

/** Repeats, removes or inserts a piece. */
export function mutateText(text: string, random: Random): string {
  const [from, to] = [random.integer(text.length + 1), random.integer(text.length + 1)];
  const kind = random.integer(3);
  if (kind === 0) return text.slice(0, Math.min(from, to)) + text.slice(Math.max(from, to));
  if (kind === 1) return text.slice(0, from) + oneOf(ODD_TEXTS, random) + text.slice(from);
  return text.slice(0, from) + text.slice(Math.min(from, to), Math.max(from, to)).repeat(2) + text.slice(from);
}
