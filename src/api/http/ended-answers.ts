// Detects the end of an answer: it was sent, or its client disconnected. Node reports the end of a connection only to the answer being
// sent, not to those of pipelined requests waiting behind it; here those end as well. Other connection handling is in
// connections.ts.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Calls back once; immediately if the answer is already over. */
export function whenOver(answer: ServerResponse, act: () => void): void {
  if (answer.destroyed) act();
  else answer.once('close', act);
}

/** Call before other hooks that use the end of an answer. */
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
