// Results of operations: the client polls until there is one. A failed operation is a result too; error statuses are for invalid
// requests.
import { sayWaiting, type WaitingFor } from '#domain/training-job';
import type { Tinker } from '#services/tinker/tinker';
import { SAMPLE_PREFIX } from '#services/tinker/sampling';
import type { FutureAnswer } from '#services/tinker/operation-results';
import type { Endpoint } from '../http/endpoint.ts';
import { clientSignal } from '../http/sse.ts';
import * as answers from './tinker-answers.ts';
import { tinkerRoute } from './tinker-endpoint.ts';
import * as wire from './tinker-schema.ts';

/** Clients show the reason once an operation has been paused for a while, and end it with a full stop of their own. */
const queueOf = (waitingFor: WaitingFor | null) =>
  waitingFor
    ? { queue_state: 'paused_capacity', queue_state_reason: sayWaiting(waitingFor).replace(/\.$/, '') }
    : { queue_state: 'active' };

const PROTOBUF = 'application/x-protobuf';

export function futureRoutes(
  { operations, sampling }: Pick<Tinker, 'operations' | 'sampling'>,
  cut: AbortSignal,
): Endpoint[] {
  return [
    tinkerRoute('POST /retrieve_future', {
      summary: 'Read the result of an operation. Returns 408 if it is not ready yet',
      access: 'any key',
      role: 'every',
      errors: [404, 408, 410],
      body: wire.retrieveFuture,
      answer: answers.result,
      alsoAnswers: [PROTOBUF],
      async handle({ caller, body: { request_id: id }, reply }) {
        const signal = clientSignal(reply, cut);
        const isSample = id.startsWith(SAMPLE_PREFIX);
        const answer: FutureAnswer | null = isSample
          ? await sampling.retrieve(caller, id, signal)
          : await operations.retrieve(caller, id, signal);
        if (answer === null) return reply.code(410).send({ detail: 'This sample is no longer stored. Sample again.' });
        switch (answer.state) {
          case 'pending':
            return reply.code(408).send({ type: 'try_again', request_id: id, ...queueOf(answer.waitingFor) });
          case 'json':
            return reply.type('application/json').send(answer.json);
          case 'message':
            return reply.type(PROTOBUF).send(Buffer.from(answer.bytes));
          case 'failed':
            return { error: answer.error, category: answer.category };
        }
      },
    }),
  ];
}
