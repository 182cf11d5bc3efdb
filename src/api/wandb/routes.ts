// The W&B protocol over HTTP: GraphQL, the stream of a run, files by signed links, and telemetry. Each route translates to a service
// and decides only the format.
import { Readable } from 'node:stream';
import { z } from 'zod';
import { parse } from '#validation/parse';
import { createSignedLinks } from '#services/accounts/signed-links';
import type { ApiLimits, ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { whenOver } from '../http/ended-answers.ts';
import { answerSignal } from '../http/sse.ts';
import { receiveFile, sendFile } from './artifact-bytes.ts';
import { createKeyedLock } from '#base/keyed-lock';
import { createAnswerBudget } from './answer-budget.ts';
import { createRequestContext, FILES_PATH } from './request-context.ts';
import { fileStream, toRunPiece } from './file-stream.ts';
import { RUN_FILE } from './run.ts';
import { weaveRoutes } from './weave.ts';

const graphQLRequest = z.looseObject({
  query: z.string().describe('The GraphQL document.'),
  variables: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Values of the document’s variables, by name; null: it has none.'),
  operationName: z.string().nullish().describe('Name of the operation to execute; null: the only one.'),
});

const graphQLAnswer = z.object({
  data: z.unknown().describe('The result, by requested field; null if nothing could be resolved.'),
  errors: z
    .array(z.object({ message: z.string().describe('Human-readable explanation of what went wrong.') }))
    .optional()
    .describe('What went wrong; absent if nothing did.'),
});

const linkQuery = z.looseObject({ link: z.string() });

/** With the first request, and not at the start: many servers have none, and the library takes a tenth of a second. */
const loadGraphQL = () => Promise.all([import('./execute.ts'), import('./root.ts')]);

export function wandbRoutes(
  services: Pick<
    ApiServices,
    'apiKeys' | 'runs' | 'artifacts' | 'artifactDrafts' | 'accountLimits' | 'metrics' | 'clock' | 'log'
  >,
  { basePath, weaveTraces }: Pick<ApiLimits, 'basePath' | 'weaveTraces'>,
): Endpoint[] {
  const { apiKeys, runs, accountLimits, clock, log } = services;
  const links = createSignedLinks(apiKeys, clock);
  const asking = { ...services, links };
  const reading = createKeyedLock();
  return [
    endpoint({
      method: 'POST',
      path: '/graphql',
      tag: 'W&B',
      summary: 'Execute a GraphQL operation of the wandb library. Mutations need the scope `train`',
      access: 'read',
      dialect: 'wandb',
      body: { schema: graphQLRequest, read: (raw) => parse(graphQLRequest, raw, 'body') },
      answer: graphQLAnswer,
      async handle({ caller, body: { query, variables, operationName = null }, request, reply }) {
        const budget = createAnswerBudget(answerSignal(reply), caller.entity, reading);
        const context = createRequestContext(request, caller, asking, budget, basePath);
        const [{ answerGraphQL }, { createRoot }] = await loadGraphQL();
        const answer = await answerGraphQL({ query, variables: variables ?? {}, operationName }, budget, () =>
          createRoot(context),
        );
        if (answer.failure) log.error('graphql.failed', { requestId: request.id, err: answer.failure });
        reply.code(answer.status).headers(answer.headers);
        return answer.body;
      },
    }),
    endpoint({
      method: 'POST',
      path: '/files/{entity}/{project}/{run}/file_stream',
      tag: 'W&B',
      summary: 'Upload history lines by number, the summary, and the end of a run',
      access: 'train',
      errors: [400, 404],
      dialect: 'wandb',
      body: { schema: fileStream, read: (raw) => raw },
      answer: z.object({}),
      async handle({ caller, params, body }) {
        const name = { entity: params.entity!, project: params.project!, name: params.run! };
        await runs.get(caller, name); // throws if the run belongs to another entity, whatever is sent
        await runs.append(caller, name, toRunPiece(parse(fileStream, body ?? {}, 'body')));
        return {};
      },
    }),
    endpoint({
      method: 'PUT',
      path: FILES_PATH,
      tag: 'W&B',
      summary: 'Upload the file of a link. Files of runs are dropped',
      access: 'public',
      errors: [403],
      dialect: 'wandb',
      bodySize: 'file',
      query: linkQuery,
      answer: z.object({}),
      async handle({ query: { link }, request, reply }) {
        const { caller, permission } = await links.open(link);
        request.caller = caller;
        whenOver(reply.raw, await accountLimits.admit(caller));
        const content = (request.body as AsyncIterable<Uint8Array> | undefined) ?? Readable.from([]);
        if (permission === RUN_FILE) for await (const _ of content);
        else await receiveFile(services.artifactDrafts, caller, permission, { content, headers: request.headers });
        return {};
      },
    }),
    endpoint({
      method: 'GET',
      path: FILES_PATH,
      tag: 'W&B',
      summary: 'Download the file of a link, or the list of files of an artifact',
      access: 'public',
      errors: [403, 404],
      dialect: 'wandb',
      query: linkQuery,
      answer: ['application/octet-stream'],
      async handle({ query: { link }, request, reply }) {
        const { caller, permission } = await links.open(link);
        request.caller = caller;
        whenOver(reply.raw, await accountLimits.admit(caller));
        const { content, sizeBytes } = await sendFile(services.artifacts, caller, permission);
        return reply
          .headers({
            'content-type': 'application/octet-stream',
            'content-length': sizeBytes,
            'content-disposition': 'attachment',
            'x-content-type-options': 'nosniff',
          })
          .send(Readable.from(content));
      },
    }),
    endpoint({
      method: 'POST',
      path: '/sdk/otel/v1/metrics',
      tag: 'W&B',
      summary: 'Send telemetry of the wandb library. It is not stored',
      access: 'public',
      bodySize: 'small',
      answer: z.object({}),
      handle: async () => ({}),
    }),
    ...weaveRoutes(services, weaveTraces),
  ];
}
