// The HTTP server: endpoints on Fastify, and what they share: request ids, authentication before a body is read,
// lenient JSON, errors in both formats, metrics and one log line per request. It does not decide the content of answers.
import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { createId, createRequestId } from '#base/ids';
import { invariant } from '#base/invariant';
import type { Span } from '#base/tracing';
import type { Caller } from '#domain/caller';
import { AppError, type ErrorCode } from '#domain/errors';
import { ROLE_DOES, ROLES, type Role } from '#domain/role';
import { storageFault } from '#domain/storage-fault';
import { refuseAbsent } from './http/absent-paths.ts';
import { createPathIndex, type PathIndex } from './http/path-index.ts';
import type { ApiLimits, ApiServices } from './http/api-services.ts';
import { authenticate, hasAccess } from './http/auth.ts';
import { guardAgainstPages } from './http/browsers.ts';
import { httpOptions, refuseMalformed, watchConnections } from './http/connections.ts';
import type { Dashboard } from './description/dashboard.ts';
import { drainOnDemand } from './http/draining.ts';
import { takeTurns, whenOver } from './http/ended-answers.ts';
import type { Endpoint } from './http/endpoint.ts';
import { episodeOf, episodePrefix, withoutEpisode } from './http/episode-address.ts';
import { dialectOf, inDialect, sendError } from './http/error-response.ts';
import { createGenerations } from './http/generations.ts';
import { describeApi } from './description/openapi.ts';
import type { Reference } from './description/reference.ts';
import { readQuery } from './http/query.ts';
import { jsonBody, readBodies } from './http/request-body.ts';
import { artifactRoutes } from './artifacts/artifacts.ts';
import { chatRoutes } from './chat/chat.ts';
import { checkpointRoutes } from './models/checkpoints.ts';
import { completionRoutes } from './chat/completions.ts';
import { datasetRowRoutes } from './artifacts/dataset-rows.ts';
import { dashboardRoutes } from './description/dashboard-route.ts';
import { embeddingRoutes } from './chat/embeddings.ts';
import { episodeRoutes } from './episodes/episodes.ts';
import { onlineTrainingRoutes } from './training/online-training.ts';
import { evaluationRoutes } from './training/evaluations.ts';
import { generateRoutes } from './generate/generate.ts';
import { jobInputRoutes } from './training/job-inputs.ts';
import { keptResponseRoutes } from './responses/kept-responses.ts';
import { keyRoutes } from './operating/keys.ts';
import { messageRoutes } from './messages/messages.ts';
import { modelLabelRoutes } from './models/model-labels.ts';
import { modelRoutes } from './models/models.ts';
import { openAIModelRoutes } from './models/openai-models.ts';
import { overviewRoutes } from './operating/overview.ts';
import { referenceRoutes } from './description/reference-route.ts';
import { responseRoutes } from './responses/responses.ts';
import { runRoutes } from './artifacts/runs.ts';
import { serverRoutes } from './operating/server.ts';
import { stepHistoryRoutes } from './models/step-history.ts';
import { tokenizeRoutes } from './chat/tokenize.ts';
import { trainingJobRoutes } from './training/training-jobs.ts';
import { trajectoryLogRoutes } from './training/trajectory-logs.ts';
import { usageRoutes } from './operating/usage.ts';
import { webhookRoutes } from './operating/webhooks.ts';
import { workerRoutes } from './operating/workers.ts';
import { tinkerRoutes } from './tinker/tinker-routes.ts';
import { firstSegments, runLink } from './http/run-links.ts';
import { takeUpgrades } from './http/upgrades.ts';
import { wandbRoutes } from './wandb/routes.ts';
import { withoutWords } from './http/without-words.ts';
import { adviceFor } from './http/wrong-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    /** Span of the whole request; it ends when the connection is done with the request. */
    span: Span;
  }
}

export interface AppDeps {
  readonly services: ApiServices;
  readonly limits: ApiLimits;
  readonly version: string;
  /** Roles of this server. */
  readonly roles: readonly Role[];
  /** Roles of all servers that share the store, including this one. */
  readonly storeRoles: readonly Role[];
  /** Null: not built. */
  readonly dashboard: Dashboard | null;
  readonly reference: Reference | null;
}

export function createApp(deps: AppDeps): FastifyInstance {
  const { services, limits, version, dashboard, reference } = deps;
  const { basePath } = limits;
  const app = Fastify({
    logger: false,
    bodyLimit: limits.bodyBytesMax,
    keepAliveTimeout: limits.keepAliveMs,
    http: httpOptions(limits.connections),
    clientErrorHandler: refuseMalformed(services.log),
    requestIdHeader: false,
    genReqId: (raw) => requestId(raw.headers['x-request-id']),
    exposeHeadRoutes: true,
    return503OnClosing: false, // draining.ts answers with a message of its own
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 500 },
    rewriteUrl: (raw) => withoutEpisode(raw, withoutBasePath(raw.url ?? '/', basePath)),
    frameworkErrors: (error, request, reply) => {
      void reply.header('x-request-id', request.id);
      void sendError(reply, error);
    },
  });
  app.addHttpMethod('QUERY', { overrideExisting: true }); // otherwise Fastify asks for a content type before it answers 405
  app.decorateRequest('caller', null);
  app.decorateRequest('span');

  takeTurns(app, services.log);
  readBodies(app, limits.bodyPace);
  watchConnections(app, limits.connections);
  shareHeaders(app);
  record(app, services);
  noteBroken(app, services);
  watch(app, services);
  guardAgainstPages(app, limits.hosts, limits.origins);
  const draining = drainOnDemand(app);

  const generations = createGenerations(services, limits, draining.cut);

  const endpoints: Endpoint[] = [
    ...chatRoutes(services, generations),
    ...completionRoutes(services, generations),
    ...messageRoutes(services, generations),
    ...responseRoutes(services, generations, limits, draining.begun),
    ...keptResponseRoutes(services, limits, draining.begun),
    ...generateRoutes(services, generations),
    ...embeddingRoutes(services, generations),
    ...tokenizeRoutes(services),
    ...openAIModelRoutes(services),
    ...modelRoutes(services),
    ...modelLabelRoutes(services),
    ...overviewRoutes(services, version),
    ...checkpointRoutes(services),
    ...trainingJobRoutes(services, limits, draining.begun),
    ...jobInputRoutes(services),
    ...evaluationRoutes(services),
    ...trajectoryLogRoutes(services),
    ...stepHistoryRoutes(services),
    ...artifactRoutes(services),
    ...datasetRowRoutes(services),
    ...episodeRoutes(services, limits),
    ...onlineTrainingRoutes(services),
    ...runRoutes(services),
    ...wandbRoutes(services, limits),
    ...usageRoutes(services),
    ...keyRoutes(services),
    ...webhookRoutes(services),
    ...workerRoutes(services),
    ...tinkerRoutes(services, limits, draining.cut),
    ...serverRoutes({ ...services, generations }, limits, version, () => describeApi(endpoints, version, basePath)),
    ...referenceRoutes(reference, version),
    ...dashboardRoutes(services, dashboard, version),
  ];
  const takesSockets = ({ acceptSocket }: Endpoint) => acceptSocket !== undefined;
  for (const endpoint of endpoints.filter((each) => !takesSockets(each))) serve(app, endpoint, deps);
  takeUpgrades(app, (scope) => {
    for (const endpoint of endpoints.filter(takesSockets)) serve(scope, endpoint, deps);
  });
  app.setErrorHandler((error, request, reply) => fail(services, error, request, reply));
  const paths = createPathIndex(endpoints);
  const taken = firstSegments(endpoints);
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0]!;
    const link = dashboard && runLink({ method: request.method, path, accept: request.headers.accept }, taken);
    return link ? reply.redirect(link, 307) : notFound(paths, request, reply);
  });
  return app;
}

function serve(app: FastifyInstance, endpoint: Endpoint, { services, limits, roles, storeRoles }: AppDeps): void {
  const {
    method,
    path,
    access,
    role = 'api',
    begins = 'api',
    bodySize = 'small',
    createBodyParser,
    readBody,
    creates,
    acceptSocket,
  } = endpoint;
  const scope = access === 'any key' || access === 'public' ? null : access;
  app.route({
    method,
    url: path.replace(/\{\w+\*\}/, '*').replace(/\{(\w+)\}/g, ':$1'),
    bodyLimit: { small: limits.bodyBytesMax, large: limits.trainingBodyBytesMax, file: limits.fileBytesMax }[bodySize],
    config: {
      createBodyParser,
      rawBody: bodySize === 'file',
      dialect: endpoint.dialect,
      isAnthropicToo: endpoint.isAnthropicToo,
    },
    // Runs before the body is read, so that unauthenticated clients cannot make the server read half a gigabyte.
    onRequest: async (request, reply) => {
      const missing = [role, begins].find((each) => each !== 'every' && !storeRoles.includes(each)) as Role | undefined;
      if (missing) throw absentRole(missing, roles);
      if (role !== 'every' && !roles.includes(role)) throw otherRole(role, roles);
      if (access === 'public') return;
      request.caller = await authenticate(services.apiKeys, request, scope);
      if (request.ws) return; // a connection stays open as long as its worker
      const leave = await services.accountLimits.admit(request.caller);
      whenOver(reply.raw, leave);
    },
    ...(acceptSocket
      ? { wsHandler: (socket, request) => acceptSocket(socket, () => hasAccess(services.apiKeys, request, scope)) }
      : {}),
    handler: async (request, reply) => {
      const { caller } = request;
      const params = pathParameters(path, request);
      const query = readQuery(endpoint, request.query);
      const body = readBody ? readBody(jsonBody(request.body)) : undefined;
      const respond = async (newId: string) => {
        const answer = await endpoint.handle({ caller: caller ?? NOBODY, params, query, body, newId, request, reply });
        return endpoint.answer === null ? reply.code(204).send() : answer;
      };
      if (!creates) return respond(createId());
      invariant(caller, `${path} creates and must need a key`);
      const header = request.headers['idempotency-key'];
      const key = typeof header === 'string' ? header : null;
      return services.idempotent(
        { caller, route: `${method} ${request.url}`, key, requestHash: requestHash(endpoint, request) },
        (newId) => {
          services.tracing.remember(newId, request.span);
          return respond(newId);
        },
      );
    },
  });
}

/** The same body is another request in another episode, of whose calls the answer becomes one. */
function requestHash({ generates }: Endpoint, request: FastifyRequest): string {
  const episode = generates === 'answers' ? episodeOf(request) : null;
  return `${request.bodyHash ?? ''}${episode === null ? '' : JSON.stringify(episode)}`;
}

/** A proxy that tries the next server after a 503 finds the right one. */
function otherRole(role: Role, roles: readonly Role[]): AppError {
  const message = `This server does not do that: it runs with the role ${roles.join(', ')}. Send the request to a server with the role ${role} (${ROLE_DOES[role]}).`;
  return new AppError('other_role', message, { retryAfterSeconds: 1 });
}

/** A data directory without Postgres has only one server: no other server will do the work, and a request that waited would wait forever. */
function absentRole(role: Role, roles: readonly Role[]): AppError {
  const message = `This server runs with --role ${roles.join(',')}, without ${ROLE_DOES[role]}, and no other shares its data directory. Start it with --role ${ROLES.filter((each) => each === role || roles.includes(each)).join(',')} for that.`;
  return new AppError('invalid_request', message);
}

/** The caller of public endpoints, which ignore it: it owns nothing. */
const NOBODY: Caller = { entity: '', keyId: '', scopes: [], limits: {} };

function pathParameters(path: string, request: FastifyRequest): Record<string, string> {
  const { '*': rest, ...named } = request.params as Record<string, string>;
  const wildcard = /\{(\w+)\*\}/.exec(path)?.[1];
  return wildcard === undefined || rest === undefined ? named : { ...named, [wildcard]: rest };
}

function shareHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    // nosniff: browsers never interpret an answer with user content as a page.
    reply.headers({ 'x-request-id': request.id, 'x-content-type-options': 'nosniff' });
    if (dialectOf(request) === 'anthropic') reply.header('request-id', request.id); // the name that Anthropic's clients read
  });
}

function record(app: FastifyInstance, { metrics, log }: ApiServices): void {
  app.addHook('onResponse', async (request, reply) => {
    const { method, id, caller } = request;
    const route = request.routeOptions.url ?? 'none';
    const { statusCode: status, elapsedTime: durationMs } = reply;
    metrics.requestFinished({ method, route, status, seconds: durationMs / 1000 });
    const fields = {
      requestId: id,
      method,
      route,
      status,
      durationMs: Math.round(durationMs * 10) / 10,
      keyId: caller?.keyId ?? null,
    };
    if (route.startsWith('/v1/preview') || method !== 'GET') log.info('request.finished', fields);
    else log.debug('request.finished', fields);
  });
}

/** An answer that fails after its headers were sent is cut off: the client sees that it is incomplete, and only the log has the reason. */
function noteBroken(app: FastifyInstance, { log }: ApiServices): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (!(payload instanceof Readable)) return;
    payload.once('error', (err) => {
      if (reply.raw.headersSent) log.error('response.broken', { requestId: request.id, err });
    });
  });
}

/** Unlike `record`, also sees the end of requests whose client disconnected. */
function watch(app: FastifyInstance, { metrics, tracing }: ApiServices): void {
  app.addHook('onRequest', async (request, reply) => {
    const { method, id, headers } = request;
    const route = request.routeOptions.url;
    const about = { 'http.request.method': method, 'http.route': route, 'whetstone.request_id': id };
    const left = metrics.requestArrived();
    request.span = tracing.serve(route === undefined ? method : `${method} ${route}`, headers, about);
    whenOver(reply.raw, () => {
      left();
      const { statusCode, writableEnded } = reply.raw;
      request.span.set({ 'http.response.status_code': statusCode });
      if (!writableEnded) request.span.event('client.left');
      if (statusCode >= 500) request.span.fail(String(statusCode));
      request.span.end();
    });
  });
}

/** Not errors of the server, although the status is 503. */
const EXPECTED: readonly ErrorCode[] = ['other_role', 'server_stopping'];

function fail({ log }: ApiServices, failure: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = storageFault(failure) ?? failure; // not only from the stores: also from temporary files
  const answered = sendError(reply, error);
  // The answer explains a client's mistake; our own failures, and the cause of an answer, go to the operator's log.
  const expected = error instanceof AppError && EXPECTED.includes(error.code);
  const about = { requestId: request.id, status: reply.statusCode };
  if (error instanceof AppError && error.code === 'storage_unavailable')
    log.error('request.failed', { ...about, fault: error.message, cause: systemWords(error.cause) });
  else if (reply.statusCode >= 500 && !expected) log.error('request.failed', { ...about, err: error });
  else if (expected || (error instanceof AppError && error.cause !== undefined)) {
    log.info('request.refused', {
      ...about,
      code: error.code,
      cause: withoutWords(error.cause),
    });
  }
  return answered;
}

/** The message of a disk or database error, without stack traces of our source. */
function systemWords(cause: unknown): string | null {
  if (!(cause instanceof Error)) return null;
  const { code = cause.name } = cause as NodeJS.ErrnoException;
  return `${code}: ${cause.message}`;
}

function notFound(paths: PathIndex, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?')[0]!.replace(/(?<=.)\/$/, '');
  const absent = refuseAbsent(path, request, reply);
  if (absent !== null) return absent;
  const allowed = paths.methodsOf(path);
  if (allowed.length === 0) {
    const exists = (other: string) => paths.methodsOf(other).length > 0;
    const asked = request.originalUrl.split('?')[0]!.slice(0, 200);
    const advice = adviceFor({ path, episode: episodePrefix(request.raw) }, exists);
    return sendError(reply, new AppError('not_found', `Not Found: ${request.method} ${asked}. ${advice}`));
  }
  const message = `Method Not Allowed: ${request.method}. ${path.slice(0, 200)} takes ${allowed.join(', ')}.`;
  const error = { message, type: 'invalid_request_error', param: null, code: 'method_not_allowed' };
  const refusal = { status: 405, headers: {}, body: { detail: message, error } };
  const { status, body } = inDialect(refusal, dialectOf(request), request.id);
  return reply.code(status).header('allow', allowed.join(', ')).send(body);
}

/** The client's own id if it is harmless, otherwise 32 hex characters. */
function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\x21-\x7e]{1,128}$/.test(header) ? header : createRequestId();
}

function withoutBasePath(url: string, basePath: string): string {
  if (basePath === '' || !url.startsWith(basePath)) return url;
  const rest = url.slice(basePath.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}
