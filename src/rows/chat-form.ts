// A message of a data row in the form of a chat request: ShareGPT's and Axolotl's speakers, OpenAI's older calls, calls whose arguments are
// objects, and thinking as a part of an answer, which is its reasoning. Knows neither what is trained nor which fields templates read.
import { isObject } from '#base/is-object';
import { PYTHON_SEPARATORS, stringifySentJson } from '#base/sent-json';
import { parseJson } from '#validation/json-text';
import { withoutNulls } from './without-nulls.ts';

export type Refuse = (path: (string | number)[], message: string) => void;

type Values = Readonly<Record<string, unknown>>;

export interface ChatForm {
  readonly message: Record<string, unknown>;
  /** The reasoning that parts of its content have; null: they have none. */
  readonly thoughts: string | null;
  /** Fields of its parts beside their text, which no template gets. */
  readonly unused: readonly string[];
}

/** Who speaks, in ShareGPT's words and those of its descendants. */
const SPEAKERS: Readonly<Record<string, string>> = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  assistant: 'assistant',
  chatgpt: 'assistant',
  bing: 'assistant',
  bard: 'assistant',
  model: 'assistant',
  system: 'system',
  tool: 'tool',
  observation: 'tool',
  function_response: 'tool',
  function_call: 'assistant',
};

/** `refuse` gets places within the message. */
export function inChatForm(sent: object, refuse: Refuse): ChatForm {
  const given = withoutNulls(sent);
  const message = 'from' in given && !('role' in given) ? spoken(given, refuse) : given;
  for (const field of ['train_detail', 'training_detail', 'train_on_eos'])
    if (message[field] !== undefined)
      refuse([field], 'is not supported: a turn is trained as a whole, or it is context (train)');
  const { content, thoughts, unused } = readParts(message, refuse);
  return {
    message: { ...message, ...callsOf(message, refuse), ...(content === undefined ? {} : { content }) },
    thoughts,
    unused,
  };
}

function callsOf(message: Values, refuse: Refuse): object {
  const { function_call: call, tool_calls: calls } = message;
  const refuseIn =
    (...path: (string | number)[]): Refuse =>
    (more, why) =>
      refuse([...path, ...more], why);
  if (Array.isArray(calls) && calls.length > 0) {
    if (call !== undefined) refuse(['function_call'], 'stands beside tool_calls, which replaced it: leave one out');
    return { tool_calls: calls.map((each, at) => inCallForm(each, refuseIn('tool_calls', at))) };
  }
  return call === undefined ? {} : { function_call: null, tool_calls: [inCallForm(call, refuseIn('function_call'))] };
}

/** `{"from", "value"}`. A function call is the JSON text of one call or of a list. */
function spoken({ from, value, ...rest }: Values, refuse: Refuse): Record<string, unknown> {
  const role = typeof from === 'string' && Object.hasOwn(SPEAKERS, from) ? SPEAKERS[from]! : null;
  if (role === null)
    refuse(['from'], `is ${JSON.stringify(from)}, and must be one of ${Object.keys(SPEAKERS).join(', ')}`);
  if (from !== 'function_call') return { ...rest, role: role ?? 'user', content: value };
  const calls = callsIn(value);
  if (!calls)
    refuse(['value'], 'must be the JSON text of a call, {"name": "…", "arguments": {…}}, or of a list of calls');
  return { ...rest, role, content: '', tool_calls: calls ?? [] };
}

function callsIn(value: unknown): unknown[] | null {
  if (typeof value !== 'string') return null;
  try {
    const read = parseJson(value);
    const calls: unknown[] = Array.isArray(read) ? read : [read];
    return calls.every((call) => isObject(call) && typeof call['name'] === 'string') ? calls : null;
  } catch {
    return null;
  }
}

/** A call may be without `function`; its arguments may be a value, and `parameters`, as Llama writes them. */
function inCallForm(sent: unknown, refuse: Refuse): unknown {
  if (!isObject(sent)) return sent;
  const call = withoutNulls(sent);
  const isBare = !isObject(call['function']);
  const { function: within, name, arguments: direct, parameters: asLlama, ...rest } = call;
  if (isBare && typeof name !== 'string') return call;
  const called = isBare
    ? withoutUndefined({ name, arguments: direct, parameters: asLlama })
    : withoutNulls(within as object);
  const { parameters, ...said } = called;
  if (parameters !== undefined && said['arguments'] !== undefined)
    refuse([...(isBare ? [] : ['function']), 'parameters'], 'stands beside arguments, which it means: leave one out');
  const given = said['arguments'] ?? parameters;
  const text = given === undefined || typeof given === 'string' ? given : stringifySentJson(given, PYTHON_SEPARATORS);
  return { type: 'function', ...(isBare ? rest : call), function: { ...said, arguments: text } };
}

const withoutUndefined = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));

/** Type of a part → the field with its text. */
const TEXT_OF: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['input_text', 'text'],
  ['output_text', 'text'],
  ['refusal', 'refusal'],
  ['thinking', 'thinking'],
]);

interface Parts {
  readonly content: unknown;
  readonly thoughts: string | null;
  readonly unused: readonly string[];
}

/** Thinking of an answer is taken out of its content, as of a request to the Messages API. Parts of other types are refused later. */
function readParts({ role, content }: Values, refuse: Refuse): Parts {
  if (!Array.isArray(content)) return { content, thoughts: null, unused: [] };
  const thoughts: string[] = [];
  const unused: string[] = [];
  const parts: unknown[] = [];
  for (const [place, sent] of (content as unknown[]).entries()) {
    const part = isObject(sent) ? withoutNulls(sent) : sent;
    if (isObject(part) && part['type'] === undefined) {
      refuse(['content', place, 'type'], 'is missing: a part is {"type": "text", "text": "…"}');
      parts.push('');
      continue;
    }
    const own = isObject(part) ? TEXT_OF.get(part['type']) : undefined;
    if (isObject(part) && own !== undefined)
      unused.push(...Object.keys(part).flatMap((key) => (key === 'type' || key === own ? [] : `content.${key}`)));
    const thought = role === 'assistant' && own === 'thinking' ? thoughtIn((part as Values)['thinking']) : null;
    if (thought === null) parts.push(part);
    else thoughts.push(thought);
  }
  if (thoughts.length === 0) return { content: parts, thoughts: null, unused };
  return { content: parts.length === 0 ? '' : parts, thoughts: thoughts.join(''), unused };
}

/** A text, or the list of text parts that Mistral's models write. Null: neither. */
function thoughtIn(thinking: unknown): string | null {
  if (typeof thinking === 'string') return thinking;
  if (!Array.isArray(thinking)) return null;
  const texts = (thinking as unknown[]).map((part) => (isObject(part) ? part['text'] : part));
  return texts.every((text) => typeof text === 'string') ? texts.join('') : null;
}
