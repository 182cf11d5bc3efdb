// The types that settings have: how a text of the command line or the environment becomes a value, and how to say what it must
// be. Knows no setting.

import { isIP } from 'node:net';
import { atHome } from '#base/at-home';
import { KEY_BYTES } from '#base/secret-box';
import type { Network } from '#domain/network';

export interface ValueType<T> {
  /** A switch has no text of its own; `many` may be repeated, and is separated by commas in a variable. */
  readonly form: 'one' | 'many' | 'switch';
  /** Ends the sentence "--port must be …". */
  readonly rule: string;
  /** What to do instead. */
  readonly hint?: string;
  /** At least one text; null: they break the rule. */
  readonly parse: (texts: readonly string[]) => T | null;
}

function one<T>(rule: string, parse: (text: string) => T | null, hint?: string): ValueType<T> {
  return { form: 'one', rule, parse: (texts) => parse(texts.at(-1)!), ...(hint === undefined ? {} : { hint }) };
}

const many = <T>(rule: string, parse: (text: string) => T | null): ValueType<readonly T[]> => ({
  form: 'many',
  rule,
  parse(texts) {
    const values = texts.map(parse);
    return values.includes(null) ? null : (values as T[]);
  },
});

export const switchedOn: ValueType<boolean> = {
  form: 'switch',
  rule: 'true or false',
  parse: ([text]) => (text === 'true' || text === 'false' ? text === 'true' : null),
};

export const text = one('non-empty text', nonEmpty);
export const texts = many('non-empty text', nonEmpty);

function nonEmpty(given: string): string | null {
  return given === '' ? null : given;
}

/** As a header can carry it. */
export const apiKey = one(
  'ASCII characters without spaces',
  (given) => (/^[!-~]+$/.test(given) ? given : null),
  'Keys are as `whetstone serve` or `whetstone keys create` printed them.',
);

const pathOf = (given: string): string | null => nonEmpty(given) && atHome(given);

export const directory = one('a directory', pathOf);
export const file = one('a file', pathOf);

/** As the Hub's tools read their switches. */
export const yesOrNo = one('1 or 0', (given) => {
  const known = /^(?:(1|true|yes|on)|(0|false|no|off))$/i.exec(given);
  return known && known[1] !== undefined;
});

export const hostNames = many('a host name without a port, such as chat.example.com', (given) => {
  const name = given.toLowerCase();
  if (isIP(name) === 6) return new URL(`http://[${name}]`).hostname.slice(1, -1); // as a Host header is read
  return /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(name) ? name : null;
});

/** As browsers send it. */
export const origins = many('an origin such as http://localhost:3000, or *', (given) =>
  given === '*' || (URL.canParse(given) && new URL(given).origin === given) ? given : null,
);

export const networks = many('an address or a network such as 10.1.0.0/16', (given): Network | null => {
  const [address = '', bits, ...more] = given.split('/');
  const family = isIP(address);
  const bitsMax = family === 4 ? 32 : 128;
  const prefixBits = bits === undefined ? bitsMax : Number(bits);
  const isGood = family !== 0 && more.length === 0 && /^\d*$/.test(bits ?? '') && bits !== '' && prefixBits <= bitsMax;
  return isGood ? { address, prefixBits } : null;
});

export interface NamedAdapter {
  /** `name`, `project/name` or `entity/project/name`; null: as the directory is called. */
  readonly name: string | null;
  readonly directory: string;
}

/** What is before a `=` is a name unless it cannot be one, as in the path `./lr=1e-4`. */
export const adapters = many(
  'a directory, or NAME=DIRECTORY such as tutor=./my-adapter',
  (given): NamedAdapter | null => {
    const [, name = null, named = given] = /^([^/:@=\s.~][^/:@=\s]*(?:\/[^/:@=\s]+){0,2})=(.*)$/s.exec(given) ?? [];
    return named === '' ? null : { name, directory: atHome(named) };
  },
);

/** Its bytes. */
export const key = one(
  `${KEY_BYTES} random bytes in base64, as \`openssl rand -base64 ${KEY_BYTES}\` prints`,
  (given) => {
    const bytes = Buffer.from(given, 'base64');
    return bytes.length === KEY_BYTES ? bytes : null;
  },
);

export const integer = (min: number, max: number): ValueType<number> =>
  one(`an integer from ${min} to ${max}`, (given) => {
    const value = Number(given);
    return /^-?\d+$/.test(given) && value >= min && value <= max ? value : null;
  });

const GIGABYTES_MAX = 100_000;

/** In bytes. */
export const gigabytes = one('a number of gigabytes such as 8 or 0.5', (given) => {
  const value = Number(given);
  return /^\d+(?:\.\d+)?$/.test(given) && value > 0 && value <= GIGABYTES_MAX ? Math.floor(value * 1e9) : null;
});

export const choice = <T extends string>(choices: readonly T[]): ValueType<T> =>
  one(`one of ${choices.join(', ')}`, (given) => choices.find((known) => known === given) ?? null);

/** Separated by commas; in the order of `choices`, whatever the order given. */
export const choices = <T extends string>(known: readonly T[], hint: string): ValueType<readonly T[]> =>
  one(
    `a comma-separated list of ${known.join(', ')}`,
    (given) => {
      const names = given.split(',').map((name) => name.trim());
      const isKnown = (name: string) => known.some((each) => each === name);
      return names.every(isKnown) ? known.filter((each) => names.includes(each)) : null;
    },
    hint,
  );

/** Without its trailing slashes. */
export const basePath = one('a path such as /api/training', (given) => {
  const path = given.replace(/\/+$/, '');
  return path === '' || /^(?:\/[A-Za-z0-9._~-]+)+$/.test(path) ? path : null;
});

/** A name, and what it stands for. */
export const aliases = many('NAME=MODEL such as Qwen/Qwen3-8B=whetstone/starter', (given) => {
  const [, name, model] = /^([^=\s]+)=([^=\s]+)$/.exec(given) ?? [];
  return name === undefined || model === undefined ? null : ([name, model] as const);
});

export const postgresUrl = one(
  'an address such as postgres://user:password@host:5432/database',
  (given) => (isPostgresUrl(given) ? given : null),
  'Write special characters of the password as %40 (@), %2F (/), %23 (#), %3F (?). Unset it for SQLite in the data directory.',
);

/** A password with a slash or the like in it would be read as host, port and path, and shown as such. */
function isPostgresUrl(given: string): boolean {
  if (!/^postgres(?:ql)?:\/\//.test(given) || !URL.canParse(given)) return false;
  const { pathname, search, hash } = new URL(given);
  return hash === '' && !`${pathname}${search}`.includes('@');
}

export interface S3Config {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  readonly endpoint: string | null;
  readonly region: string | null;
}

export const s3Url = one(
  'an address such as s3://bucket/prefix?endpoint=https://host&region=name',
  parseS3Url,
  'Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, not from the address.',
);

function parseS3Url(given: string): S3Config | null {
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url?.protocol !== 's3:' || url.hostname === '' || hasCredentials(url)) return null;
  if ([...url.searchParams.keys()].some((key) => key !== 'endpoint' && key !== 'region')) return null;
  const endpoint = url.searchParams.get('endpoint');
  if (endpoint !== null && !isHttpUrl(endpoint)) return null;
  const path = url.pathname.replace(/^\/+|\/+$/g, '');
  const prefix = path === '' ? '' : `${path}/`;
  return { bucket: url.hostname, prefix, endpoint, region: url.searchParams.get('region') };
}

/** Its address is shown in messages. */
export const httpUrl = one('an address such as https://huggingface.co, without user name and password', (given) =>
  isHttpUrl(given) ? given : null,
);

function isHttpUrl(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const url = new URL(given);
  return (url.protocol === 'http:' || url.protocol === 'https:') && !hasCredentials(url);
}

const hasCredentials = ({ username, password }: URL): boolean => username !== '' || password !== '';
