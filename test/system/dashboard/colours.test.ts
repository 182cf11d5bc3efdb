// The colours of tokens in the style sheet: text on them is readable, and colour-blind people can tell them apart.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

type Rgb = readonly [number, number, number];

const linear = (hex: string): Rgb => {
  const [r, g, b] = [0, 2, 4].map((at) => {
    const x = parseInt(hex.slice(at, at + 2), 16) / 255;
    return x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return [r, g, b];
};

/** Light, dark. */
const css = readFileSync(new URL('../../../dashboard/src/tokens/tones.css', import.meta.url), 'utf8');
const palettes = css
  .split('@media')
  .map(
    (part) =>
      new Map([...part.matchAll(/--(tone-[a-z0-9]+): #([0-9a-f]{6});/g)].map(([, name, hex]) => [name!, linear(hex!)])),
  );

/** WCAG 2.2. */
const luminance = ([r, g, b]: Rgb): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const contrast = (a: Rgb, b: Rgb): number => {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
};

/** Viénot, Brettel and Mollon 1999: what people without red (protan) or green (deutan) cones see, in linear RGB. */
const SEEN = {
  protan: [0.11238, 0.88762, 0, 0.11238, 0.88762, 0, 0.00401, -0.00401, 1],
  deutan: [0.29275, 0.70725, 0, 0.29275, 0.70725, 0, -0.02234, 0.02234, 1],
} as const;
const seen = (by: keyof typeof SEEN, [r, g, b]: Rgb): Rgb => {
  const m = SEEN[by];
  return [m[0] * r + m[1] * g + m[2] * b, m[3] * r + m[4] * g + m[5] * b, m[6] * r + m[7] * g + m[8] * b];
};

/** Distance in OKLab (Ottosson 2020): 0.02 is just noticeable side by side. */
const oklab = ([r, g, b]: Rgb): Rgb => {
  const root = (x: number) => Math.cbrt(Math.max(0, x));
  const l = root(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = root(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = root(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
};
const distance = (a: Rgb, b: Rgb): number => Math.hypot(...oklab(a).map((x, i) => x - oklab(b)[i]!));

describe.each([
  ['light', palettes[0]!],
  ['dark', palettes[1]!],
])('colours of the %s scheme', (_, palette) => {
  const tones = [...palette].filter(([name]) => name !== 'tone-text');

  test('carry text that can be read', () => {
    expect(tones).toHaveLength(12);
    for (const [name, tone] of tones) expect(contrast(tone, palette.get('tone-text')!), name).toBeGreaterThan(4.5);
  });

  test.each(['protan', 'deutan'] as const)('differ from their neighbours and opposites for %s eyes', (eyes) => {
    const of = (name: string) => seen(eyes, palette.get(`tone-${name}`)!);
    for (const scale of ['s', 'd', 'dn'])
      for (const i of [1, 2, 3])
        expect(distance(of(`${scale}${i}`), of(`${scale}${i + 1}`)), `${scale}${i}`).toBeGreaterThan(0.03);
    for (const i of [1, 2, 3, 4]) expect(distance(of(`d${i}`), of(`dn${i}`)), `±${i}`).toBeGreaterThan(0.03);
  });
});
