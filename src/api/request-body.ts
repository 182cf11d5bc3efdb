// Reads request bodies: the digest for idempotency, bytes → JSON; how many bytes and how fast is body-stream.ts. What is
// wrong with the JSON is thrown later, by the handler, where the request has its caller and hooks.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readBytes, type Pace } from './body-stream.ts';
import { parseJson } from './json-body.ts';
import { ValidationError } from './schema/validation.ts';
import { createTrainingBodyParser, type BodyParser } from './training-body.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the body's bytes; only where an Idempotency-Key came with it. */
    bodyHash: string | null;
  }
  interface FastifyContextConfig {
    /** The body may be huge and holds trajectories: it is parsed while it arrives. */
    readonly streamsBody?: boolean;
    /** The handler reads the bytes as they come. */
    readonly rawBody?: boolean;
  }
}

type ReadBody = { readonly json: unknown } | { readonly error: unknown };

/** The body of a request that came through readBodies. */
export function jsonBody(body: unknown): unknown {
  if (body === undefined || body === null) return undefined;
  const read = body as ReadBody;
  if ('error' in read) throw read.error;
  return read.json;
}

export function readBodies(app: FastifyInstance, pace: Pace): void {
  app.decorateRequest('bodyHash', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable): Promise<ReadBody | Readable> => {
    if (request.routeOptions.config.rawBody) return Readable.from(readBytes(request, payload, pace));
    const hash = request.headers['idempotency-key'] === undefined ? null : createHash('sha256');
    const parser = parserFor(request);
    for await (const chunk of readBytes(request, payload, pace)) {
      hash?.update(chunk);
      parser.write(chunk);
    }
    request.bodyHash = hash?.digest('hex') ?? null;
    try {
      return { json: parser.end() };
    } catch (error) {
      return { error };
    }
  });
}

function parserFor({ headers, routeOptions }: FastifyRequest): BodyParser {
  const mediaType = (headers['content-type'] ?? 'application/json').split(';')[0]!.trim().toLowerCase();
  const isJson = mediaType === 'application/json' || mediaType.endsWith('+json');
  if (isJson && routeOptions.config.streamsBody) return createTrainingBodyParser();
  return createWholeParser((text) => (isJson ? parseJson(text) : refuseType(mediaType, text)));
}

function createWholeParser(parse: (text: string) => unknown): BodyParser {
  const chunks: Uint8Array[] = [];
  return {
    write: (chunk) => void chunks.push(chunk),
    end: () => parse(Buffer.concat(chunks).toString('utf8')),
  };
}

/** As FastAPI: the body is a string, not an object. */
function refuseType(mediaType: string, text: string): never {
  const msg = `Input should be a valid dictionary or object to extract fields from. Send Content-Type: application/json, not ${mediaType.slice(0, 100)}`;
  throw new ValidationError([{ type: 'model_attributes_type', loc: ['body'], msg, input: text.slice(0, 200) }]);
}
