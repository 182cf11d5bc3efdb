// Log lines on stderr, for people or as JSON: an event name (noun.verb) and fields with units. stdout is reserved for the command's own output.
import { destination, pino } from 'pino';
import { logLineForPeople } from './log-lines.ts';

export type LogFields = Readonly<Record<string, unknown>>;

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
  child(fields: LogFields): Log;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export function createLog(level: LogLevel, format: LogFormat): Log {
  const stderr = format === 'text' ? forPeople() : forMachines();
  return wrap(pino({ level, base: null, messageKey: 'event' }, stderr));
}

/** How many bytes wait for room on a full disk; what is logged beyond them is lost. */
const WAITING_BYTES_MAX = 1 << 20;

/** A log that cannot be written, because its disk is full or its reader gone, must not end the program. */
const goOn = (): void => {};

const forMachines = () => destination({ fd: 2, sync: true, maxLength: WAITING_BYTES_MAX }).on('error', goOn);

/** Clears the current line of a terminal: a progress bar, which is drawn again afterwards. */
const CLEARED = process.stderr.isTTY ? '\r\x1b[K' : '';

function forPeople() {
  if (!process.stderr.listeners('error').includes(goOn)) process.stderr.on('error', goOn);
  return { write: (line: string): void => void process.stderr.write(`${CLEARED}${logLineForPeople(line)}`) };
}

export const silentLog: Log = createLog('silent', 'json');

function wrap(logger: pino.Logger): Log {
  return {
    debug: (event, fields) => logger.debug(fields ?? {}, event),
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error: (event, fields) => logger.error(fields ?? {}, event),
    child: (fields) => wrap(logger.child(fields)),
  };
}
