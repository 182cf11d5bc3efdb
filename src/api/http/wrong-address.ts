// What to do about a path that no endpoint has: mostly a base URL that ends too early or too late, because OpenAI's clients expect it with
// /v1 and Anthropic's without. Pure: knows only which paths exist.

export interface WrongAddress {
  /** Without the episode that the address names. */
  readonly path: string;
  /** `/e/NAME` or `/e/GROUP/NAME`; empty: the address names no episode. */
  readonly episode: string;
}

const ANY_EPISODE = '…/e/NAME/v1 or …/e/GROUP/NAME/v1 (without /v1 for Anthropic clients)';
const NAME_MAX = 260; // a group and a name

/** A sentence. */
export function adviceFor({ path, episode }: WrongAddress, exists: (path: string) => boolean): string {
  const within = (rest: string) => (episode === '' ? '.' : `: …${episode.slice(0, NAME_MAX)}${rest}.`);
  const rest = path.startsWith('/v1/') ? path.slice('/v1'.length) : null;
  if (rest !== null && exists(rest)) {
    if (rest.startsWith('/v1/messages')) return `The base URL of Anthropic clients ends before /v1${within('')}`;
    if (rest.startsWith('/v1/')) return `The base URL of OpenAI clients ends in one /v1${within('/v1')}`;
    return `This endpoint lies beside /v1${episode === '' ? `: ${rest}.` : within(rest)}`;
  }
  if (exists(`/v1${path}`)) return `The base URL of OpenAI clients ends in /v1${within('/v1')}`;
  if (/^\/e(\/|$)/.test(path)) return ofEpisode(path.slice('/e/'.length), exists);
  if (/^\/v1\/preview\/episodes\/[^/]+\/./.test(path))
    return 'Names and ids of episodes have no slash: /v1/preview/episodes/NAME, and /reward or /tokens after it.';
  return 'GET /docs lists all endpoints.';
}

/** `rest` follows `/e/`, and has no `/v1` after a name. */
function ofEpisode(rest: string, exists: (path: string) => boolean): string {
  const segments = rest.split('/');
  if (segments[0] === '' || segments[0] === 'v1') return `The name of the episode is missing: ${ANY_EPISODE}.`;
  const count = [1, 2].find((names) => exists(`/v1/${segments.slice(names).join('/')}`));
  if (count === undefined) return `The address of an episode is ${ANY_EPISODE}.`;
  const names = segments.slice(0, count).join('/').slice(0, NAME_MAX);
  return `The base URL of OpenAI clients ends in /v1: …/e/${names}/v1.`;
}
