import { expect, test } from 'vitest';
import { escapeUnseen } from './unseen-characters.ts';

test('what would move the cursor, change colours or turn the direction of writing is shown as an escape', () => {
  expect(escapeUnseen('a\x1b[2Jb\x07\r\x9b1m')).toBe('a\\u001b[2Jb\\u0007\\u000d\\u009b1m');
  expect(escapeUnseen('x\u202egnp.exe\u2066')).toBe('x\\u202egnp.exe\\u2066');
});

test('letters of any script, emoji, tabs and line breaks stay', () => {
  const text = 'Größe\t世界 🙂👩‍👧 العربية\nline';
  expect(escapeUnseen(text)).toBe(text);
});

test('JSON means the same afterwards', () => {
  const value = { name: 'a\u202eb', line: '\n' };
  expect(JSON.parse(escapeUnseen(JSON.stringify(value)))).toEqual(value);
});
