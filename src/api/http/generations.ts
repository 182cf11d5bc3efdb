// What all generating routes share: the caller, the request id, cancellation, and the metrics and spans recorded while an answer
// passes through. The route decides the wire format.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createRequestId } from '#base/ids';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import type { Answer, ChatContext, ChatDelta } from '#services/chat/answer';
import type { ApiLimits, ApiServices } from './api-services.ts';
import { serverStopping } from './draining.ts';
import { whenOver } from './ended-answers.ts';
import { episodeOf } from './episode-address.ts';
import { headerText } from './header-text.ts';
import { clientSignal, sendEvents } from './sse.ts';

export type GenerationServices = Pick<ApiServices, 'metrics' | 'clock' | 'log'>;

/** The operation name of OpenTelemetry (gen_ai.operation.name). */
type Operation = 'chat' | 'text_completion' | 'embeddings';

/** One generation request, from its arrival to its last token. */
export interface Generation {
  readonly context: ChatContext;
  readonly startMs: number;
  /** The error that the client receives for a failure: while the server stops, that it is stopping, whatever failed. */
  readonly because: (error: unknown) => unknown;
  /** Passes the deltas through and measures them, also if the client disconnects midway. */
  measured(this: void, answer: Answer, choices: number): AsyncGenerator<ChatDelta>;
  /** `onError` returns the last frames of a failed stream, from the error that the client receives. */
  stream(frames: AsyncIterable<string>, onError: (error: unknown) => string): Promise<FastifyReply>;
}

export interface GenerationCall {
  readonly caller: Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export interface Generations {
  /** `answerId`: the `id` of the answer, by which clients name the call of an episode; null: answers have none, and are not recorded. */
  begin(
    call: GenerationCall,
    operation: Operation,
    bodyRequestId: string | null,
    answerId: ((requestId: string) => string) | null,
  ): Generation;
  /** Number of generation requests that are not finished. */
  readonly running: number;
}

/** Names of checkpoints are addresses of artifacts. */
const SCHEME = /^wandb-artifact:\/+/;

/** `cut` aborts when a shutdown has waited long enough for answers. */
export function createGenerations(
  { metrics, clock, log }: GenerationServices,
  { pingMs, connections }: ApiLimits,
  cut: AbortSignal,
): Generations {
  let running = 0;

  function begin(
    { caller, request, reply }: GenerationCall,
    operation: Operation,
    bodyRequestId: string | null,
    answerId: ((requestId: string) => string) | null,
  ): Generation {
    const { id, headers, span } = request;
    const episode = answerId && episodeOf(request);
    const requestId = requestIdOf(request, bodyRequestId, episode !== null);
    running++;
    whenOver(reply.raw, () => void running--);
    const startMs = clock.now();
    const because = (error: unknown) => (cut.aborted ? serverStopping() : error);

    async function* measured(answer: Answer, choices: number): AsyncGenerator<ChatDelta> {
      const { deltas, model, promptTokens, prompt } = answer;
      const baseModel = model.base.id;
      const counted = { baseModel, promptTokens: promptTokens.length, choices, startMs, clock };
      const observation = metrics.chat.begin(counted);
      const child = span.child(`${operation} ${baseModel}`, generationAttributes(operation, answer));
      const finishReasons: string[] = [];
      let outputTokens = 0;
      let failed = false;
      try {
        for await (const delta of deltas) {
          const { choiceIndex, token, finish } = delta;
          if (token && outputTokens++ === 0) child.event('first_token');
          if (token) observation.token(choiceIndex);
          if (finish) {
            finishReasons.push(finish.reason);
            observation.finish(choiceIndex, finish);
          }
          yield delta;
        }
      } catch (error) {
        failed = !(error instanceof AppError && error.code === 'cancelled');
        if (failed) child.fail(error);
        throw error;
      } finally {
        observation.end(prompt.report, failed ? 'error' : 'abort');
        child.set({
          'gen_ai.usage.output_tokens': outputTokens,
          'gen_ai.usage.cache_read.input_tokens': prompt.report?.cachedTokenCount,
          'gen_ai.response.finish_reasons': finishReasons,
        });
        child.end();
      }
    }

    return {
      context: {
        caller,
        project: projectOf(headers, caller),
        requestId,
        ...(episode ? { episode: { ...episode, answerId: answerId(requestId) } } : {}),
        signal: clientSignal(reply, cut),
        onModel: ({ servedName }) => void reply.header('x-whetstone-model', headerText(servedName.replace(SCHEME, ''))),
      },
      startMs,
      because,
      measured,
      async stream(frames, onError) {
        const report = (error: unknown) => {
          log.warn('chat.failed', { requestId: id, err: error });
          return onError(because(error));
        };
        await sendEvents(reply, frames, report, { pingMs, stallMs: connections.writeStallMs });
        return reply;
      },
    };
  }

  return {
    begin,
    get running() {
      return running;
    },
  };
}

/**
 * The header takes precedence over request_id of the body. Answers get their `id` from it, which names a call of an episode: many agents
 * send one id for their whole run.
 */
function requestIdOf({ id, headers }: FastifyRequest, ofBody: string | null, isCall: boolean): string {
  const named = headers['x-request-id'] === undefined ? ofBody : id;
  if (named === null) return id;
  return isCall ? `${named}-${createRequestId().slice(0, SUFFIX_LENGTH)}` : named;
}

const SUFFIX_LENGTH = 12; // 48 bits, for the thousands of calls of one episode

/** Attributes of generations as OpenTelemetry names them (gen_ai.*), without prompts and answers. */
const generationAttributes = (operation: Operation, { model, promptTokens }: Answer) => ({
  'gen_ai.operation.name': operation,
  'gen_ai.provider.name': 'whetstone',
  'gen_ai.request.model': model.base.id,
  'gen_ai.usage.input_tokens': promptTokens.length,
});

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Both names that clients send. */
const PROJECT_HEADERS = ['OpenAI-Project', 'Vendor-Project'] as const;

/** `OpenAI-Project: team/project`; a project without a team belongs to the caller's. */
function projectOf(headers: Headers, { entity }: Caller): string {
  const name = PROJECT_HEADERS.find((each) => headers[each.toLowerCase()] !== undefined);
  if (name === undefined) return '';
  const header = headers[name.toLowerCase()];
  if (typeof header !== 'string' || header === '') return '';
  const [team, project] = header.includes('/') ? header.split('/', 2) : [entity, header];
  if (team === entity && /^[\w .-]{1,128}$/.test(project!)) return project!;
  const message = `The project \`${header.slice(0, 100)}\` is not one that this key can use. Send ${name}: ${entity}/PROJECT, or leave it out.`;
  throw new AppError('invalid_api_key', message, { param: name });
}
