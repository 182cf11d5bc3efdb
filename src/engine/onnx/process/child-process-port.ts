// This process as an engine child: its end of the channel, a log that is written by the parent, and how it ends. A child
// lives exactly as long as its parent: signals to the process group are the parent's to handle, and a closed channel
// means that the parent is gone.
import type { Log, LogFields } from '#base/log';
import { invariant } from '#base/invariant';
import type { Port, ToClient, ToServer } from './rpc-messages.ts';
import type { LogLine } from './supervised-child.ts';

export function openParentPort(): Port<ToClient, ToServer> {
  invariant(process.connected, 'an engine worker is started by fork');
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  process.on('disconnect', () => process.exit(0));
  const send = (message: ToClient): void => {
    if (process.connected) process.send!(message, () => {}); // a parent that is gone ends us: 'disconnect'
  };
  const die = (error: unknown): void => {
    const payload = error instanceof Error ? (error.stack ?? error.message) : String(error);
    if (!process.connected) process.exit(1);
    process.send!({ kind: 'notice', name: 'fatal', payload } satisfies ToClient, () => process.exit(1));
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
  return { send, receive: (handler) => process.on('message', (message) => handler(message as ToServer)) };
}

/** Lines go to the parent, which has the log's level, format and destination. */
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
