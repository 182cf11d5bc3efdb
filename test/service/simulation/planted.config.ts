// Vitest with one mistake of mistakes.ts planted in the sources as they are loaded: WHETSTONE_MISTAKE names it. Nothing on disk changes.
import { mergeConfig } from 'vitest/config';
import whole from '../../../vitest.config.ts';
import { editedFiles, MISTAKES } from './mistakes.ts';

const name = process.env['WHETSTONE_MISTAKE'];
const mistake = MISTAKES.find((each) => each.name === name);
if (!mistake) throw new Error(`WHETSTONE_MISTAKE must be the name of a mistake, and is ${name}`);

export default mergeConfig(whole, {
  plugins: [
    {
      name: 'plant-a-mistake',
      enforce: 'pre' as const,
      transform(code: string, id: string): string | undefined {
        const edited = editedFiles(mistake).find(({ file }) => id.endsWith(`/src/${file}`));
        return edited?.edits.reduce((text, [from, to]) => {
          if (text.split(from).length !== 2) throw new Error(`${edited.file} must contain once: ${from}`);
          return text.replace(from, () => to);
        }, code);
      },
    },
  ],
});
