// This process as an engine child: its end of the channel, and how it exits. A child lives exactly as long as its parent:
// signals to the process group are handled by the parent, and a closed channel means that the parent is gone.
import { invariant } from '#base/invariant';
import type { Port, ToClient, ToServer } from '../../rpc/rpc-messages.ts';

export function connectToParent(): Port<ToClient, ToServer> {
  invariant(process.connected, 'an engine worker must be started by fork');
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => {});
  process.on('disconnect', () => process.exit(0));
  const send = (message: ToClient): void => {
    if (process.connected) process.send!(message, () => {}); // if the parent is gone, 'disconnect' ends this process
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
