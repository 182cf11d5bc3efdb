// Detects the end of an answer: it was sent, or its client disconnected. Decides how many pipelined requests of a connection are worked on
// (one packet may bring hundreds), and ends their answers with the connection: Node reports its end only to the answer being sent. Other
// connection handling is in connections.ts.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Log } from '#base/log';

/** Calls back once; immediately if the answer is already over. */
export function whenOver(answer: ServerResponse, act: () => void): void {
  if (answer.destroyed) act();
  else answer.once('close', act);
}

/** Of one connection: requests that are worked on at once, and those that may wait behind them. Hardly any client sends a second one early. */
const AT_ONCE = 8;
const WAITING_MAX = 100;
/** Of one answer: parts of the server that a request passes, Fastify, and the stream that it sends. More than these would be a leak. */
const LISTENERS_MAX = 32;

interface Connection {
  readonly answers: Set<ServerResponse>;
  /** Let the next waiting request begin. */
  readonly waiting: (() => void)[];
}

/** Call before other hooks: they run in a request's turn. A connection on which more wait is destroyed. */
export function takeTurns(app: FastifyInstance, log: Log): void {
  const connections = new WeakMap<Socket, Connection>();

  function watch(socket: Socket): Connection {
    const connection: Connection = { answers: new Set(), waiting: [] };
    connections.set(socket, connection);
    socket.once('close', () => {
      for (const answer of connection.answers) {
        answer.destroy();
        answer.emit('close');
      }
    });
    return connection;
  }

  app.addHook('onRequest', async ({ raw: { socket } }, reply) => {
    const { answers, waiting } = connections.get(socket) ?? watch(socket);
    if (answers.size === AT_ONCE + WAITING_MAX && !socket.destroyed) {
      log.info('connection.overfull', { waiting: WAITING_MAX });
      socket.destroy();
    }
    reply.raw.setMaxListeners(LISTENERS_MAX);
    answers.add(reply.raw);
    whenOver(reply.raw, () => {
      answers.delete(reply.raw);
      waiting.shift()?.();
    });
    if (answers.size > AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
    if (socket.destroyed) reply.hijack(); // nobody waits for an answer
  });
}
