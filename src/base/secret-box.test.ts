import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSecretBox } from './secret-box.ts';

const [one, other] = [randomBytes(32), randomBytes(32)];

test('a sealed text opens unchanged, in its place and with its key only', () => {
  const box = createSecretBox([one]);
  const sealed = box.seal('whsec_x', 'hook');
  expect(sealed).not.toContain('whsec_x');
  expect(box.seal('whsec_x', 'hook')).not.toBe(sealed);
  expect(box.open(sealed, 'hook')).toBe('whsec_x');
  expect(box.open(sealed, 'other hook')).toBeNull();
  expect(createSecretBox([other]).open(sealed, 'hook')).toBeNull();
  const changed = `${sealed.slice(0, -6)}AAAA==`;
  expect(box.open(changed, 'hook')).toBeNull();
});

test('an older key still opens, and text that was never sealed is returned unchanged', () => {
  const sealed = createSecretBox([one]).seal('whsec_x', 'hook');
  const box = createSecretBox([other, one]);
  expect(box.open(sealed, 'hook')).toBe('whsec_x');
  expect(box.isSealed(sealed, 'hook')).toBe(false);
  expect(box.isSealed(box.seal('whsec_x', 'hook'), 'hook')).toBe(true);
  expect(box.open('whsec_x', 'hook')).toBe('whsec_x');
});
