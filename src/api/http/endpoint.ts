// One HTTP operation: its input, its output, and the function in between. app.ts serves endpoints and openapi.ts
// describes them, so that neither can miss one.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { z } from 'zod';
import type { Scope } from '#domain/api-key';
import type { Caller } from '#domain/caller';
import type { Role } from '#domain/role';
import type { CreateBodyParser } from './request-body.ts';

export type Tag =
  | 'Chat'
  | 'Models'
  | 'Checkpoints'
  | 'Training jobs'
  | 'Artifacts'
  | 'Runs'
  | 'Episodes'
  | 'Keys'
  | 'Webhooks'
  | 'Workers'
  | 'Tinker'
  | 'W&B'
  | 'Server';

/** The scope that a key needs; `public`: no key is needed. */
export type Access = 'public' | 'any key' | Scope;

export interface Call<B, Q> {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** Id for the object that a creating operation creates. If an object with this id exists, a crash interrupted the answer: return that object. */
  readonly newId: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export type Dialect = 'anthropic' | 'tinker' | 'wandb';

interface Common {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** `{name}` is a parameter; `{name*}` may contain slashes. */
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly access: Access;
  /** Which servers answer it, if not those with the role `api`. */
  readonly role?: Role | 'every';
  /** The role that does the work it starts; refused if no server of the store has it. */
  readonly begins?: Role;
  /** Failures in addition to 401, 422 and 500. */
  readonly errors?: readonly number[];
  /** Bodies with training data may be large. A file is not read before the handler runs: `request.body` is its stream. */
  readonly bodySize?: 'small' | 'large' | 'file';
  /** Of a JSON body that is parsed while it arrives, if not whole. */
  readonly createBodyParser?: CreateBodyParser;
  /** A creating POST: requests with the same Idempotency-Key get the same answer. */
  readonly creates?: boolean;
  /** Its answers name the model that made them. `answers`: each can be a call of an episode, which headers or the address name. */
  readonly generates?: 'answers' | 'vectors';
  /** For JSON answers, their schema; for others, their content types. Null: 204 without a body, or the WebSocket. */
  readonly answer: z.ZodType | readonly string[] | null;
  /** Called for requests with `Upgrade: websocket`, instead of sending an answer. `mayStay`: whether the key still has access. */
  readonly acceptSocket?: (socket: WebSocket, mayStay: () => Promise<boolean>) => void;
  /** The API whose error format and key header it uses, if not OpenAI's. */
  readonly dialect?: Dialect;
  /** Requests with the header `anthropic-version` are of Anthropic's API, which has the same path: its error format and key header. */
  readonly isAnthropicToo?: boolean;
  /** Only for OpenAPI: `stream: true` or similar requests are answered with events. */
  readonly alsoStreams?: boolean;
  /** Only for OpenAPI: success statuses in addition to 200, with the same answer. */
  readonly alsoSucceeds?: readonly number[];
  /** Only for OpenAPI: the content type of a file body, if not `application/octet-stream`. */
  readonly bodyType?: string;
  /** Only for OpenAPI: required request headers. */
  readonly requiredHeaders?: readonly string[];
  /** Only for OpenAPI: content types of alternative formats of the answer. */
  readonly alsoAnswers?: readonly string[];
}

export interface Endpoint extends Common {
  readonly bodySchema: z.ZodType | null;
  readonly querySchema: z.ZodType | null;
  readonly readBody: ((raw: unknown) => unknown) | null;
  readonly handle: (call: Call<unknown, unknown>) => Promise<unknown>;
}

interface Definition<B, Q extends z.ZodType> extends Common {
  readonly query?: Q;
  readonly body?: { readonly schema: z.ZodType; readonly read: (raw: unknown) => B };
  readonly handle: (call: Call<B, z.output<Q>>) => Promise<unknown>;
}

export function endpoint<B = undefined, Q extends z.ZodType = z.ZodUndefined>(definition: Definition<B, Q>): Endpoint {
  const { body, query, handle, ...common } = definition;
  return {
    ...common,
    bodySchema: body?.schema ?? null,
    querySchema: query ?? null,
    readBody: body?.read ?? null,
    // Types are checked at `definition`; app.ts passes the results of readBody and querySchema.
    handle: handle as Endpoint['handle'],
  };
}
