// The calls that ART's recorder kept of other protocols than chat → the form of chat completions, in place, so that rows/exchanges.ts
// makes histories of them. A call is read by the code that answered it: the same request gives the same messages. Their tokens are not
// in the answers: the server finds them by the answer's id. What continues what, and what is trained, is decided elsewhere.
import { isObject } from '#base/is-object';
import type { ChatMessage, ToolDefinition } from '#domain/chat';
import { AppError } from '#domain/errors';
import { RefusedCall } from '#rows/exchanges';
import { ValidationError } from '#validation/parse';
import { parseCountTokens } from '../messages/messages-request.ts';
import type { Item } from '../responses/responses-input.ts';
import { parseResponsesRequest } from '../responses/responses-request.ts';

type Wire = Readonly<Record<string, unknown>>;

/** A call in the form of chat completions. */
interface ChatCall {
  readonly request: { readonly messages: readonly ChatMessage[]; readonly tools: readonly ToolDefinition[] | null };
  readonly response: Wire & { readonly choices: readonly Wire[] };
}

interface Recorded {
  readonly request: Wire;
  readonly response: Wire;
}

/** `earlier`: what the calls before this one said. */
type ReadCall = (call: Recorded, earlier: Conversations) => ChatCall;

const PROTOCOLS = ['chat_completions', 'completions', 'responses', 'messages'] as const;
/** As in rows/exchanges.ts. */
const CALLS_MAX = 1_000;
/** Of the conversations that responses continue, in one trajectory: each is read again. */
const ITEMS_MAX = 50_000;

/** Of `exchanges` of a trajectory, in place; what cannot be read stays for the schema to report. */
export async function readRecorded(trajectory: unknown, yieldToLoop: () => Promise<void>): Promise<void> {
  if (!isObject(trajectory) || !isObject(trajectory['exchanges'])) return;
  const { exchanges } = trajectory as { exchanges: Wire };
  const replace = (calls: readonly unknown[]) => Object.assign(trajectory, { exchanges: { chat_completions: calls } });
  const calls = PROTOCOLS.flatMap((protocol) =>
    listOf(exchanges[protocol]).map((call, at) => ({ protocol, call, at })),
  );
  if (calls.every(({ protocol }) => protocol === 'chat_completions')) return;
  if (calls.length > CALLS_MAX) {
    replace([new RefusedCall([], `A trajectory has at most ${CALLS_MAX} recorded calls.`)]);
    return;
  }
  const earlier: Conversations = { byId: new Map(), items: new Map(), count: 0 };
  const read: { readonly startedAt: number; readonly call: unknown }[] = [];
  for (const { protocol, call, at } of calls) {
    const startedAt = isObject(call) ? Date.parse(String(call['start_time'])) : NaN;
    read.push({ startedAt, call: protocol === 'chat_completions' ? call : readOne(protocol, call, at, earlier) });
    await yieldToLoop();
  }
  // A conversation may go on in another protocol.
  if (read.every(({ startedAt }) => Number.isFinite(startedAt))) read.sort((a, b) => a.startedAt - b.startedAt);
  replace(read.map(({ call }) => call));
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

type Other = Exclude<(typeof PROTOCOLS)[number], 'chat_completions'>;

const READERS: Readonly<Record<Other, ReadCall>> = {
  completions: readCompletion,
  responses: readResponse,
  messages: readMessage,
};

function readOne(protocol: Other, call: unknown, at: number, earlier: Conversations): ChatCall | RefusedCall {
  const place = [protocol, at];
  if (!isObject(call) || !isObject(call['request']) || !isObject(call['response']))
    return new RefusedCall(place, 'A recorded call must have a request and a response.');
  try {
    return READERS[protocol]({ request: call['request'], response: call['response'] }, earlier);
  } catch (error) {
    if (error instanceof ValidationError) {
      const [first] = error.items;
      const loc = first!.loc.filter((part) => part !== 'body');
      return new RefusedCall([...place, ...loc], `The recorded call cannot be read: ${first!.msg}`);
    }
    if (error instanceof AppError) return new RefusedCall(place, `The recorded call cannot be read: ${error.message}`);
    throw error;
  }
}

/** The answer is read as the last turn of the conversation that it answered. */
function readMessage({ request, response }: Recorded): ChatCall {
  const said = { role: 'assistant', content: listOf(response['content']).map(withoutNulls) };
  const { conversation } = parseCountTokens({ ...request, messages: [...listOf(request['messages']), said] });
  const messages = conversation.messages.slice(0, -1);
  const answer = conversation.messages.at(-1)!;
  return callOf({ messages, tools: conversation.tools }, response, [
    {
      index: 0,
      finish_reason: finishOf(answer, response['stop_reason'] === 'max_tokens'),
      message: answer,
      ...carriedTokens(response),
      ...stepOf(response),
    },
  ]);
}

/** In chat's words: `stop` would say of a call that the client forced it. */
function finishOf({ tool_calls: calls }: ChatMessage, isCut: boolean): string {
  if (isCut) return 'length';
  return calls && calls.length > 0 ? 'tool_calls' : 'stop';
}

/** Fields that the SDKs' models add to a block. */
const withoutNulls = (block: unknown): unknown =>
  isObject(block) ? Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null)) : block;

/** What earlier calls of the trajectory said, for calls that continue them by an id. */
interface Conversations {
  readonly byId: Map<string, readonly Item[]>;
  /** Items of answers, by id. */
  readonly items: Map<string, Item>;
  /** Of the items that were continued. */
  count: number;
}

/** If the earlier conversation is unknown, only what the server remembers of the answer, its prompt included, can be trained. */
function readResponse({ request, response }: Recorded, earlier: Conversations): ChatCall {
  const asked = parseResponsesRequest(request);
  const before = asked.previousId === null ? [] : earlier.byId.get(asked.previousId);
  earlier.count += before?.length ?? 0;
  if (earlier.count > ITEMS_MAX)
    throw new AppError('invalid_request', `The calls continue more than ${ITEMS_MAX} items by previous_response_id.`);
  const missing = asked.namedItems.find((id) => !earlier.items.has(id));
  if (missing !== undefined)
    throw new AppError('invalid_request', `No recorded call before it has the item ${missing.slice(0, 100)}.`);
  const complete = (conversation: readonly Item[]) => asked.complete({ conversation, items: earlier.items });
  const { request: chat, input } = complete(before ?? []);
  const output = listOf(response['output']).filter((item): item is Item => isObject(item));
  for (const item of output) if (typeof item['id'] === 'string') earlier.items.set(item['id'], item);
  if (typeof response['id'] === 'string') earlier.byId.set(response['id'], [...input, ...output]);
  const answer = parseResponsesRequest({ ...request, instructions: null, input: [...output] });
  const said = answer.complete({ conversation: [], items: earlier.items }).request.messages.at(-1)!;
  const finish = finishOf(said, response['status'] === 'incomplete');
  const tokens = before ? carriedTokens(response) : {};
  return callOf({ messages: chat.messages, tools: chat.tools }, response, [
    { index: 0, finish_reason: finish, message: said, ...tokens, ...stepOf(response) },
  ]);
}

/** Without messages: a prompt that is not known by its tokens cannot be rendered, and its answer is not trained. */
function readCompletion({ request, response }: Recorded): ChatCall {
  const choices = listOf(response['choices'])
    .filter(isObject)
    .map((choice) => {
      const { index, text, finish_reason: finish } = choice;
      const prompt = choice['prompt_token_ids'] ?? response['prompt_token_ids'] ?? promptIds(request['prompt']);
      const isKnown = isList(prompt) && isList(choice['token_ids']) && request['echo'] !== true;
      const logprobs = isObject(choice['logprobs']) ? choice['logprobs']['token_logprobs'] : null;
      return {
        index,
        finish_reason: finish,
        message: { role: 'assistant', content: text },
        ...stepOf(choice),
        ...(isKnown ? carriedTokens({ token_ids: choice['token_ids'], prompt_token_ids: prompt, logprobs }) : {}),
      };
    });
  return callOf({ messages: [], tools: null }, response, choices);
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;

const promptIds = (prompt: unknown): unknown =>
  isList(prompt) && prompt.every((id) => typeof id === 'number') ? prompt : null;

/** Of answers that carry the ids of their tokens, as vLLM's do if asked for them. */
function carriedTokens({ token_ids: ids, prompt_token_ids: prompt, logprobs }: Wire): Wire {
  if (!isList(ids)) return {};
  const hasLogprobs = isList(logprobs) && logprobs.length === ids.length;
  const content = hasLogprobs ? ids.map((id, i) => ({ token: `token_id:${String(id)}`, logprob: logprobs[i] })) : null;
  return { token_ids: ids, prompt_token_ids: prompt ?? null, ...(content ? { logprobs: { content } } : {}) };
}

/** Which step of the model sampled it. */
const stepOf = ({ policy_step: step }: Wire): Wire => (step === undefined ? {} : { policy_step: step });

const callOf = (request: ChatCall['request'], { id }: Wire, choices: readonly Wire[]): ChatCall => ({
  request,
  response: { id, choices },
});
