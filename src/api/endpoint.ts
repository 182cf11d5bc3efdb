// One HTTP operation: what it takes, what it gives, and the function between. app.ts serves endpoints, openapi.ts
// describes them, so that neither can forget one.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { z } from 'zod';
import type { Scope } from '#domain/api-key';
import type { Caller } from '#domain/caller';
import type { Role } from '#domain/role';

export type Tag =
  | 'Chat'
  | 'Models'
  | 'Checkpoints'
  | 'Training jobs'
  | 'Artifacts'
  | 'Runs'
  | 'Keys'
  | 'Webhooks'
  | 'Workers'
  | 'Tinker'
  | 'W&B'
  | 'Server';

/** What a key must allow; `public`: answers without one. */
export type Access = 'public' | 'any key' | Scope;

export interface Call<B, Q> {
  readonly caller: Caller;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Q;
  readonly body: B;
  /** For what a creating operation makes. When something has it, a crash cut off the answer: find it. */
  readonly newId: string;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export type Dialect = 'anthropic' | 'tinker' | 'wandb';

interface Common {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `{name}` for parameters; `{name*}` takes slashes too. */
  readonly path: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly access: Access;
  /** Which servers answer it, where it is not `api`. */
  readonly role?: Role | 'every';
  /** Who does the work that it begins; refused where no server of the store does. */
  readonly begins?: Role;
  /** Failures beside 401, 422 and 500. */
  readonly errors?: readonly number[];
  /** Bodies with training data may be large. A file is not read before the handler: `request.body` is its stream. */
  readonly bodySize?: 'small' | 'large' | 'file';
  /** A creating POST: repeats with the same Idempotency-Key give the same answer. */
  readonly creates?: boolean;
  /** JSON answers: their schema. Others: their content types. Null: 204 without a body, or the WebSocket. */
  readonly answer: z.ZodType | readonly string[] | null;
  /** Requests with `Upgrade: websocket` get this instead of an answer. */
  readonly acceptSocket?: (socket: WebSocket) => void;
  /** Whose words its errors are in, and its keys come in, where they are not OpenAI's. */
  readonly dialect?: Dialect;
  /** For OpenAPI only: answers to `stream: true` and the like. */
  readonly alsoStreams?: boolean;
  /** For OpenAPI only: statuses of success beside 200, with the same answer. */
  readonly alsoSucceeds?: readonly number[];
  /** For OpenAPI only: the content type of a file's body, where it is not `application/octet-stream`. */
  readonly bodyType?: string;
  /** For OpenAPI only: request headers that it cannot do without. */
  readonly requiredHeaders?: readonly string[];
  /** For OpenAPI only: content types of the same answer in other forms. */
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
    // Types are checked at `definition`; app.ts calls with what readBody and querySchema gave.
    handle: handle as Endpoint['handle'],
  };
}
