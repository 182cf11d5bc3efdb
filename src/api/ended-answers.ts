// When an answer is over: sent, or its client left. Node tells the end of a connection to the answer that is being sent, and not
// to those of pipelined requests that wait behind it; here they end as well. What else an answer needs from its connection is
// connections.ts.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Acts once; at once where it is over already. */
export function whenOver(answer: ServerResponse, act: () => void): void {
  if (answer.destroyed) act();
  else answer.once('close', act);
}

/** Call before other hooks that ask for the end of an answer. */
export function endWaitingAnswers(app: FastifyInstance): void {
  const answersOf = new WeakMap<Socket, Set<ServerResponse>>();

  function watch(socket: Socket): Set<ServerResponse> {
    const answers = new Set<ServerResponse>();
    answersOf.set(socket, answers);
    socket.once('close', () => {
      for (const answer of answers) {
        answer.destroy();
        answer.emit('close');
      }
    });
    return answers;
  }

  app.addHook('onRequest', async ({ raw: { socket } }, { raw: answer }) => {
    const answers = answersOf.get(socket) ?? watch(socket);
    answers.add(answer);
    whenOver(answer, () => answers.delete(answer));
  });
}
