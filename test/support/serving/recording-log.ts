// A log that remembers its lines, for tests of what is logged.
import type { Log, LogFields } from '#base/log';

export interface LoggedLine {
  readonly level: string;
  readonly event: string;
  readonly fields: LogFields;
}

export function createRecordingLog(lines: LoggedLine[] = [], context: LogFields = {}): Log & { lines: LoggedLine[] } {
  const write =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      void lines.push({ level, event, fields: { ...context, ...fields } });
  return {
    lines,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => createRecordingLog(lines, { ...context, ...fields }),
  };
}

/** The pid of the newest process that the supervisor reported. */
export const pidOf = ({ lines }: { lines: readonly LoggedLine[] }): number =>
  lines.findLast(({ event }) => event === 'engine.started' || event === 'engine.restarted')!.fields['pid'] as number;
