// Progress bars that count bytes: of pushed and pulled files, and, for all models together, of what `serve` and other commands
// download from the Hub and prepare.
import { bytesText, showProgress, type ProgressLine } from './progress.ts';

export const showBytes = (): ProgressLine => showProgress(undefined, undefined, bytesText);

interface Downloads {
  readonly onBytes: (model: string, done: number, of: number, doing?: string) => void;
  readonly onEnd: (model: string) => void;
}

export function showDownloads(line: ProgressLine = showBytes()): Downloads {
  const running = new Map<string, { readonly done: number; readonly of: number }>();
  return {
    onBytes(model, done, of, doing = 'downloading') {
      running.set(model, { done, of });
      const all = [...running.values()];
      const sum = (key: 'done' | 'of') => all.reduce((total, each) => total + each[key], 0);
      line.onDone(`${doing} ${[...running.keys()].join(' and ')}`, sum('done'), sum('of'));
    },
    onEnd(model) {
      if (running.delete(model) && running.size === 0) line.end();
    },
  };
}
