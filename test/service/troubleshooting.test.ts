// The messages that docs/guides/troubleshooting.md quotes are those that the server, the commands and the client print. The guide
// writes … for the parts that vary.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMMAND_OR_SETTING = /^(?:whetstone|export|--|temperature:|wandb-artifact:)/;

const guide = await readFile(join(ROOT, 'docs/guides/troubleshooting.md'), 'utf8');
const quotes = [...guide.matchAll(/`([^`]+)`/g)]
  .map(([, quote]) => quote!.replace(/\s+/g, ' '))
  .filter((quote) => quote.includes(' ') && !COMMAND_OR_SETTING.test(quote));

const files = await readdir(join(ROOT, 'src'), { recursive: true });
const sources = await Promise.all(
  files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFile(join(ROOT, 'src', file), 'utf8')),
);
const said = sources.join('\n');

test.each(quotes)('%s is a message', (quote) => {
  const parts = quote.split('…').map((part) => part.trim());
  expect(parts.filter((part) => !said.includes(part))).toEqual([]);
});

test('the guide quotes messages', () => {
  expect(quotes.length).toBeGreaterThan(8);
});
