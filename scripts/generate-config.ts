// Writes docs/configuration.md: every setting of the server, from its one declaration. A test compares the two, so that a new setting
// appears in the documentation in the same change.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { describeConfiguration } from '#config/describe-settings';

const DOCUMENT = fileURLToPath(new URL('../docs/configuration.md', import.meta.url));

export async function generateConfiguration(): Promise<string> {
  return format(describeConfiguration(), { ...(await resolveConfig(DOCUMENT)), parser: 'markdown' });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(DOCUMENT, await generateConfiguration());
