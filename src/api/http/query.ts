// The query of a request → typed values. Endpoints of our own refuse parameters that they do not know: a filter with a misspelt name would
// return the whole list. Where the protocol is somebody else's, unknown ones are ignored, as their servers do: Claude Code sends `?beta=true`.
import { parse, ValidationError } from '#validation/parse';
import type { Endpoint } from './endpoint.ts';

type Asked = Pick<Endpoint, 'path' | 'querySchema'>;

/** Whether parameters that the endpoint does not know are refused. */
export const isStrict = ({ path }: Pick<Endpoint, 'path'>): boolean =>
  /^\/v1\/(preview|artifacts|overview|runs|run-projects|usage|keys|webhooks)(\/|$)/.test(path);

const NAMED_MAX = 10;
const NAME_LENGTH_MAX = 100;

/** Throws a ValidationError. */
export function readQuery(endpoint: Asked, sent: unknown): unknown {
  if (isStrict(endpoint)) refuseUnknown(endpoint, Object.keys(sent as object));
  return endpoint.querySchema ? parse(endpoint.querySchema, sent, 'query') : undefined;
}

function refuseUnknown({ querySchema }: Asked, sent: readonly string[]): void {
  const known = querySchema && 'shape' in querySchema ? Object.keys(querySchema.shape as object) : [];
  const unknown = sent.filter((name) => !known.includes(name)).slice(0, NAMED_MAX);
  if (unknown.length === 0) return;
  const takes = known.length === 0 ? 'takes none' : `knows ${known.join(', ')}`;
  throw new ValidationError(
    unknown.map((name) => ({
      type: 'extra_forbidden',
      loc: ['query', name.slice(0, NAME_LENGTH_MAX)],
      msg: `Extra inputs are not permitted: of query parameters, this endpoint ${takes}`,
      input: null,
    })),
  );
}
