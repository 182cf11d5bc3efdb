import { expect, test } from 'vitest';
import { showDownloads } from './download-progress.ts';
import { bytesText, progressText, showProgress } from './progress.ts';

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
  expect(progressText('copying rows', 0, 0, 0)).toBe('copying rows …');
});

test('progress is rewritten in place, not for every piece of work, and removed at the end', () => {
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

test('on a narrow terminal the bar is left out or cut off, because a wrapped line could not be erased', () => {
  const shownAt = (columns: number): string => {
    const written: string[] = [];
    const stream = { isTTY: true, columns, write: (text: string) => written.push(text) > 0 };
    showProgress(stream, () => 0).onDone('training', 1, 4);
    return written.join('').slice('\r\x1b[K'.length);
  };
  expect(shownAt(80)).toBe(progressText('training', 1, 4, 0));
  expect(shownAt(30)).toBe('training 1 of 4');
  expect(shownAt(10)).toBe('training ');
});

test('the next stage is shown at once', () => {
  const { onDone, pass, written } = terminal(true);
  onDone('reading', 1, 4);
  pass(100);
  onDone('sending', 1, 4);
  expect(written.at(-1)).toBe(`\r\x1b[K${progressText('sending', 1, 4, 0)}`);
});

test('without a terminal nothing is written', () => {
  const { onDone, end, written } = terminal(false);
  onDone('training', 1, 4);
  end();
  expect(written).toEqual([]);
});

test('bytes are counted in units that can be read', () => {
  expect([0, 999, 1_000, 12_345_678, 999_999, 1_503_000_000, 64e9, 3e12].map(bytesText)).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '12.3 MB',
    '1000 kB',
    '1.5 GB',
    '64.0 GB',
    '3.0 TB',
  ]);
  expect(progressText('downloading a/b', 6e8, 24e8, 2e7, bytesText)).toContain(
    '600 MB of 2.4 GB  20.0 MB/s, 2 min left',
  );
});

test('models that come at once have one line, which goes when the last has come', () => {
  const written: string[] = [];
  const { onBytes, onEnd } = showDownloads({
    onDone: (doing, done, of) => void written.push(`${doing} ${done} of ${of}`),
    end: () => void written.push('end'),
  });
  onBytes('a/b', 1, 10);
  onBytes('c/d', 2, 20);
  onEnd('a/b');
  onBytes('c/d', 5, 80, 'preparing');
  onEnd('c/d');
  onEnd('c/d');
  expect(written).toEqual([
    'downloading a/b 1 of 10',
    'downloading a/b and c/d 3 of 30',
    'preparing c/d 5 of 80',
    'end',
  ]);
});
