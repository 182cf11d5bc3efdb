// Procedures that every engine has in addition to its own, and the log lines that every engine sends to its caller.
import type { Log, LogFields, LogLevel } from '#base/log';

/** `start` opens the engine, `stop` closes it. */
export interface LifecycleProcedures<Options, Ready> {
  start: { params: Options; result: Ready };
  ping: { params: null; result: null };
  stop: { params: null; result: null };
}

/** The notice that carries a LogLine. */
export const LOG_NOTICE = 'log';

export interface LogLine {
  readonly level: Exclude<LogLevel, 'silent'>;
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Sends lines to the caller, which decides the log's level, format and destination. */
export function createForwardingLog(send: (line: LogLine) => void, context: LogFields = {}): Log {
  const write =
    (level: LogLine['level']) =>
    (event: string, fields: LogFields = {}) =>
      send({ level, event, fields: { ...context, ...fields } });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => createForwardingLog(send, { ...context, ...fields }),
  };
}

export const writeLog = (log: Log, { level, event, fields }: LogLine): void => log[level](event, fields);
