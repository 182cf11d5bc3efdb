// Reads request bodies: the digest for idempotency, bytes → JSON. Limits on size and rate are in body-stream.ts. JSON errors are
// thrown later, by the handler, when the request has its caller and hooks.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readBytes, type Pace } from './body-stream.ts';
import { refuseHalfCharacters } from '#validation/half-characters';
import { BODY_SHAPE } from '#base/json-shape';
import { decodeText, readJson, scanShape } from '#validation/json-text';
import { ValidationError } from '#validation/parse';

declare module 'fastify' {
  interface FastifyRequest {
    /** SHA-256 of the body's bytes; only if the request has an Idempotency-Key. */
    bodyHash: string | null;
  }
  interface FastifyContextConfig {
    /** Of JSON that is parsed while it arrives; undefined: it is parsed whole. */
    readonly createBodyParser?: CreateBodyParser | undefined;
    /** The handler reads the bytes as they arrive. */
    readonly rawBody?: boolean;
  }
}

export interface BodyParser {
  write(chunk: Uint8Array): void | Promise<void>;
  /** The whole body as a value, or a promise of it. Throws ValidationError like parseJson. */
  end(): unknown;
}

export type CreateBodyParser = () => BodyParser;

type ReadBody = { readonly json: unknown } | { readonly error: unknown };

/** The body of a request that passed readBodies. */
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
      await parser.write(chunk);
    }
    request.bodyHash = hash?.digest('hex') ?? null;
    try {
      return { json: await parser.end() };
    } catch (error) {
      return { error };
    }
  });
}

function parserFor({ headers, routeOptions }: FastifyRequest): BodyParser {
  const mediaType = (headers['content-type'] ?? 'application/json').split(';')[0]!.trim().toLowerCase();
  const isJson = mediaType === 'application/json' || mediaType.endsWith('+json');
  if (isJson && routeOptions.config.createBodyParser) return routeOptions.config.createBodyParser();
  return createWholeParser((text) => (isJson ? readWhole(text) : refuseType(mediaType, text)));
}

const LONG_BYTES = 1_000_000;

/** Other requests are served between the steps of processing a long body. */
function createWholeParser(read: (text: string) => Promise<unknown>): BodyParser {
  const chunks: Uint8Array[] = [];
  return {
    write: (chunk) => void chunks.push(chunk),
    async end() {
      const bytes = Buffer.concat(chunks);
      const isLong = bytes.length >= LONG_BYTES;
      if (isLong) await setImmediate();
      const text = decodeText(bytes);
      if (isLong) await setImmediate();
      const json = await read(text);
      if (isLong) await setImmediate();
      return json;
    },
  };
}

/** Returns undefined if the text is empty. */
async function readWhole(text: string): Promise<unknown> {
  if (text.trim() === '') return undefined;
  for (const _ of scanShape(text, BODY_SHAPE)) await setImmediate();
  const json = readJson(text, 'exact');
  refuseHalfCharacters(text, json);
  return json;
}

/** As in FastAPI: the body is a string, not an object. */
async function refuseType(mediaType: string, text: string): Promise<never> {
  const msg = `Input should be a valid dictionary or object to extract fields from. Send Content-Type: application/json, not ${mediaType.slice(0, 100)}`;
  throw new ValidationError([{ type: 'model_attributes_type', loc: ['body'], msg, input: text.slice(0, 200) }]);
}
