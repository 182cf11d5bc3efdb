// The calls that ART's recorder (`with art.Trajectory()`) kept of a rollout → histories of turns, as rollouts without a recorder send
// them. Works on untrusted JSON and only rearranges it: trajectory.ts checks the histories. A call continues the history whose messages
// its own begin with; otherwise it begins a new one (another conversation, or a fork). Knows the form of chat completions only:
// api/recorded has brought the other protocols' calls into it.
import { isObject } from '#base/is-object';
import { stringifySentJson } from '#base/sent-json';

type Wire = Readonly<Record<string, unknown>>;

/** A history on the wire. */
export interface WireHistory {
  readonly messages_and_choices: readonly unknown[];
  readonly tools: unknown;
}

/** A sentence for the client. */
export interface Refusal {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** As in trajectory.ts: each call is compared with each history. */
const EXCHANGES_MAX = 1_000;

/** A call whose form is wrong, in place of the call. */
export class RefusedCall implements Refusal {
  readonly path: readonly (string | number)[];
  readonly message: string;
  constructor(path: Refusal['path'], message: string) {
    this.path = path;
    this.message = message;
  }
}

/** Whether anything was recorded; ART sends empty lists with trajectories that were made by hand. */
export const isRecorded = (exchanges: unknown): exchanges is Wire =>
  isObject(exchanges) && Object.values(exchanges).some((calls) => Array.isArray(calls) && calls.length > 0);

/** In the order in which the histories began. */
export function historiesOf(exchanges: Wire): readonly WireHistory[] | Refusal {
  const calls = exchanges['chat_completions'];
  if (!Array.isArray(calls)) return { path: ['chat_completions'], message: 'Recorded calls must be a list.' };
  if (calls.length > EXCHANGES_MAX)
    return { path: ['chat_completions'], message: `A trajectory has at most ${EXCHANGES_MAX} recorded calls.` };
  const branches: Branch[] = [];
  for (const [index, call] of (calls as unknown[]).entries()) {
    if (call instanceof RefusedCall) return call;
    const read = readCall(call);
    if (read === null) {
      const message = 'A recorded call must have a request with messages and a response with choices.';
      return { path: ['chat_completions', index], message };
    }
    addCall(branches, read);
  }
  return branches.map(({ turns, tools }) => ({ messages_and_choices: turns, tools }));
}

interface Call {
  readonly messages: readonly unknown[];
  readonly keys: readonly string[];
  readonly tools: unknown;
  readonly choices: readonly Wire[];
}

interface Branch {
  turns: unknown[];
  /** One for each turn. */
  keys: readonly string[];
  readonly tools: unknown;
  readonly toolsKey: string;
}

function readCall(call: unknown): Call | null {
  if (!isObject(call) || !isObject(call['request']) || !isObject(call['response'])) return null;
  const { messages, tools = null } = call['request'];
  const { id, choices, prompt_token_ids: promptIds } = call['response'];
  if (!Array.isArray(messages) || !Array.isArray(choices)) return null;
  const read = (choices as unknown[]).filter(
    (choice): choice is Wire => isObject(choice) && isObject(choice['message']),
  );
  if (read.length !== choices.length) return null;
  return {
    messages: messages as unknown[],
    keys: (messages as unknown[]).map(keyOf),
    tools,
    choices: read.map((choice) => ({
      ...choice,
      prompt_token_ids: choice['prompt_token_ids'] ?? promptIds,
      answer_id: typeof id === 'string' ? id : null,
    })),
  };
}

/** A choice of an earlier call is trained in one history only: in a fork it is context. */
function addCall(branches: Branch[], { messages, keys, tools, choices }: Call): void {
  const toolsKey = stringifySentJson(tools);
  const isBefore = ({ keys: before, toolsKey: key }: Branch) =>
    key === toolsKey && before.length <= keys.length && before.every((each, i) => each === keys[i]);
  const continued = branches.filter(isBefore).sort((a, b) => b.keys.length - a.keys.length)[0];
  for (const [index, choice] of choices.entries()) {
    const isSame = continued !== undefined && index === 0;
    const turns = [...(isSame ? continued.turns : []), ...messages.slice(isSame ? continued.turns.length : 0), choice];
    const grown = { turns, keys: [...keys, keyOf(choice['message'])] };
    if (isSame) Object.assign(continued, grown);
    else branches.push({ ...grown, tools, toolsKey });
  }
}

/** What makes two messages the same to a model: clients send an answer back with fields added or left out. */
function keyOf(message: unknown): string {
  if (!isObject(message)) return JSON.stringify(message);
  const { role, content, tool_calls: calls, tool_call_id: id } = message;
  const called = Array.isArray(calls) ? calls.map((call: unknown) => (isObject(call) ? call['function'] : call)) : [];
  return JSON.stringify([role ?? 'assistant', textOf(content), called, id ?? null]);
}

function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? '';
  const texts = (content as unknown[]).map((part) => (isObject(part) ? part['text'] : part));
  return texts.every((text) => typeof text === 'string') ? texts.join('') : content;
}
