import { expect, test } from 'vitest';
import { progressText, showProgress } from './progress.ts';

function terminal(isTTY: boolean) {
  const written: string[] = [];
  let ms = 0;
  const line = showProgress({ isTTY, write: (text: string) => written.push(text) > 0 }, () => ms);
  return { ...line, written, pass: (passedMs: number) => void (ms += passedMs) };
}

test('a line says how far, how fast and how long', () => {
  expect(progressText('training', 0, 40, 0)).toBe(`training ${'·'.repeat(24)} 0 of 40`);
  expect(progressText('training', 10, 40, 0.25)).toBe(
    `training ${'█'.repeat(6)}${'·'.repeat(18)} 10 of 40  4 s each, 2 min left`,
  );
  expect(progressText('blobs', 9_000, 9_100, 120)).toContain('9000 of 9100  120/s, 1 s left');
  expect(progressText('blobs', 0, 0, 0)).toContain('0 of 0');
});

test('it is written again in place, not for every piece of work, and taken away', () => {
  const { onDone, end, pass, written } = terminal(true);
  onDone('training', 1, 4);
  pass(100);
  onDone('training', 2, 4);
  pass(900);
  onDone('training', 3, 4);
  end();
  end();
  expect(written).toEqual([
    `\r\x1b[K${progressText('training', 1, 4, 0)}`,
    `\r\x1b[K${progressText('training', 3, 4, 2)}`,
    '\r\x1b[K',
  ]);
});

test('where nobody looks, nothing is written', () => {
  const { onDone, end, written } = terminal(false);
  onDone('training', 1, 4);
  end();
  expect(written).toEqual([]);
});
