// String formats as patterns. Each pattern matches a subset of its format that every validator accepts, and its texts have a
// maximum length, so that a model that is unsure does not write a path for ever. Formats that are not listed here are annotations,
// as the specification says.

const YEAR = '(?:[0-9]{4})';
const DAY_28 = '(?:0[1-9]|1[0-9]|2[0-8])';
const LEAP = '(?:(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26]))|(?:[02468][048]|[13579][26])00)';
const DATE = `(?:${YEAR}-(?:(?:0[1-9]|1[0-2])-${DAY_28}|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)|${LEAP}-02-29)`;
const TIME = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])';
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const HOST = `${LABEL}(?:\\.${LABEL}){0,8}`;
const BYTE = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = `(?:${BYTE}\\.){3}${BYTE}`;
const GROUP = '[0-9A-Fa-f]{1,4}';
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  ...[1, 2, 3, 4, 5, 6].map((before) => `(?:${GROUP}:){${before}}(?::${GROUP}){1,${7 - before}}`),
  `::(?:${GROUP}(?::${GROUP}){0,6})?`,
].join('|');
const PATH_CHARACTER = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})";
const PATH = `(?:/${PATH_CHARACTER}{0,40}){0,8}`;
const END = `(?:\\?(?:${PATH_CHARACTER}|[/?]){0,60})?(?:#(?:${PATH_CHARACTER}|[/?]){0,40})?`;
const URI = `[A-Za-z][A-Za-z0-9+.-]{0,15}://${HOST}(?::[0-9]{1,5})?${PATH}${END}|(?:mailto|urn|tel|data|news):${PATH_CHARACTER}{1,60}`;
const POINTER = '(?:/(?:[^~/]|~[01]){0,40}){0,12}';
const EMAIL = `[A-Za-z0-9](?:[A-Za-z0-9_+-]{0,30})(?:\\.[A-Za-z0-9_+-]{1,30}){0,2}@(?:${LABEL}\\.){1,4}[A-Za-z]{2,18}`;
const UUID = '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}';
const DATES = '(?:[0-9]{1,6}Y(?:[0-9]{1,2}M(?:[0-9]{1,2}D)?)?|[0-9]{1,4}M(?:[0-9]{1,2}D)?|[0-9]{1,4}D)';
const TIMES = 'T(?:[0-9]{1,4}H(?:[0-9]{1,2}M(?:[0-9]{1,2}S)?)?|[0-9]{1,4}M(?:[0-9]{1,2}S)?|[0-9]{1,4}S)';

const PATTERNS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  'date-time': `${DATE}T${TIME}`,
  duration: `P(?:${DATES}(?:${TIMES})?|${TIMES}|[0-9]{1,4}W)`,
  uuid: UUID,
  ipv4: IPV4,
  'ip-address': IPV4,
  ipv6: IPV6,
  email: EMAIL,
  'idn-email': EMAIL,
  hostname: HOST,
  'host-name': HOST,
  'idn-hostname': HOST,
  uri: URI,
  iri: URI,
  'uri-reference': `${URI}|${PATH}${END}`,
  'iri-reference': `${URI}|${PATH}${END}`,
  'json-pointer': POINTER,
  'relative-json-pointer': `(?:0|[1-9][0-9]{0,5})(?:#|${POINTER})`,
  regex: '[A-Za-z0-9_ ,:;=<>!@#%&"\'~/-]{0,60}',
  'uri-template': `(?:${PATH_CHARACTER}|/|\\{[a-z0-9_]{1,20}\\}){0,60}`,
};

/** Returns null if the format is only an annotation. */
export const patternOfFormat = (format: string): string | null =>
  Object.hasOwn(PATTERNS, format) ? `^(?:${PATTERNS[format]!})$` : null;
