// How a test finds models: in its own directories, and on its own Hub (a-hub.ts).
import { join } from 'node:path';
import { silentLog } from '#base/log';
import type { ResolveModelOptions } from '#model-files/resolve-model';

interface Places {
  readonly starterDirectory: string;
  readonly ggufDirectory: string;
  /** Like HF_HOME: models and token of the Hub are under it. */
  readonly hubHome: string;
  readonly hubUrl: string;
}

/** Download progress goes to `shown`. */
export const resolveOptions = (places: Places, shown: string[]): ResolveModelOptions => ({
  starterDirectory: places.starterDirectory,
  ggufDirectory: places.ggufDirectory,
  hub: {
    cacheDirectory: join(places.hubHome, 'hub'),
    endpoint: places.hubUrl,
    token: null,
    tokenPath: join(places.hubHome, 'token'),
    offline: false,
  },
  parts: 'everything',
  progress: {
    onBytes: (model, done, of) => void shown.push(`${model} ${done} of ${of}`),
    onEnd: (model) => void shown.push(`${model} ended`),
  },
  log: silentLog,
  signal: new AbortController().signal,
});
