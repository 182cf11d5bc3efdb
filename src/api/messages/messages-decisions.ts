// Fields of Anthropic's Messages API that are not read here: refused where they would change the answer, otherwise accepted
// (../chat/field-decisions.ts). A `thread` is refused in messages-request.ts, in the form that Anthropic's clients understand.
import { isObject } from '#base/is-object';
import { CACHED, CALLERS, CHAT_ONLY } from '../chat/chat-decisions.ts';
import { forAll, harmless, isEmpty, isNothing, quiet, refused, type Decisions } from '../chat/field-decisions.ts';
import { misplacedAt } from '../chat/misplaced-fields.ts';

/** Every edit keeps everything, which happens anyway. */
function keepsEverything(value: unknown): boolean {
  if (isEmpty(value)) return true;
  const edits = isObject(value) ? value['edits'] : null;
  if (edits === undefined || edits === null) return isObject(value);
  return Array.isArray(edits) && edits.every(keepsAllThinking);
}

/** The first edit that would change the prompt; null: there is none with a name. */
export function unsupportedStrategy(management: unknown): string | null {
  const edits = isObject(management) ? management['edits'] : null;
  const edit: unknown = Array.isArray(edits) ? edits.find((each) => !keepsAllThinking(each)) : null;
  return isObject(edit) && typeof edit['type'] === 'string' && edit['type'] !== KEEPING ? edit['type'] : null;
}

const KEEPING = 'clear_thinking_20251015';

/** Without `keep`, Anthropic's servers drop the thinking of older turns. */
const keepsAllThinking = (edit: unknown): boolean =>
  isObject(edit) &&
  edit['type'] === KEEPING &&
  (edit['keep'] === 'all' || (isObject(edit['keep']) && edit['keep']['type'] === 'all'));

/** Tools that Anthropic's servers run, by type and perhaps a version; and why they cannot be offered. */
const SERVER_TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^web_search(_\d{8})?$/, 'this server does not search the web.'],
  [/^web_fetch(_\d{8})?$/, 'this server does not fetch pages.'],
  [/^code_execution(_\d{8})?$/, 'this server does not run code.'],
  [/^tool_search_tool_(bm25|regex)(_\d{8})?$/, 'all other tools are offered at once.'],
  [/^advisor(_\d{8})?$/, 'this server asks no second model.'],
  [/^mcp_toolset$/, 'this server connects to no MCP servers.'],
];

/** Null: the tool is the client's own. */
export const whyNotOffered = ({ type }: { readonly type?: string | null | undefined }): string | null =>
  SERVER_TOOLS.find(([pattern]) => type && pattern.test(type))?.[1] ?? null;

export const TOOL_DECISIONS: Decisions = {
  ...CALLERS,
  cache_control: quiet(CACHED),
  eager_input_streaming: quiet('arguments are streamed as they are generated.'),
};

/** Of a block of content, also of earlier answers. */
export const BLOCK_DECISIONS: Decisions = {
  cache_control: quiet(CACHED),
  citations: quiet('the text that cites is read.'),
  signature: quiet('thinking is read as it was sent.'),
  data: quiet('thinking of another server cannot be read.'),
  caller: quiet('a call is read as the model’s own.'),
  toolset_name: quiet('the call or result is read by its name or id.'),
  parsed_output: quiet('the text is read.'),
  ...forAll(['source', 'tool', 'tool_name'], () =>
    refused('It belongs to blocks of types that are not supported. Send its content as text.'),
  ),
};

export const THINKING_DECISIONS: Decisions = {
  block_binding: quiet('thinking is read as it was sent.'),
};

export const OUTPUT_CONFIG_DECISIONS: Decisions = {
  task_budget: harmless('the models here were not trained with budgets. max_tokens limits an answer.'),
};

const COUNTED: Decisions = {
  context_management: refused(
    'Only context management that keeps everything (clear_thinking_20251015 with keep "all") is supported. Leave context_management out.',
    keepsEverything,
  ),
  mcp_servers: refused('MCP servers are not supported. Leave mcp_servers out.'),
  billing_policy: harmless('nothing is billed here.'),
  betas: harmless('features are not switched by name here.'),
  speed: harmless('there is only one speed.', (value) => isEmpty(value) || value === 'standard'),
  user_profile_id: harmless('requests are accounted to the API key.'),
  workspace_id: harmless('requests are accounted to the API key.'),
};

export const COUNT_DECISIONS: Decisions = {
  ...COUNTED,
  compaction: harmless('the messages are counted as they were sent, as on Anthropic’s servers.'),
};

export const MESSAGES_DECISIONS: Decisions = {
  ...misplacedAt('/v1/messages'),
  ...CHAT_ONLY,
  ...COUNTED,
  compaction: refused('The server does not summarize conversations. Ask for a summary in a message.'),
  container: refused('Containers are not supported. Leave container out.'),
  fallbacks: refused('Fallbacks to other models are not supported. Leave fallbacks out.'),
  fallback_credit_token: harmless('nothing is billed here.'),
  diagnostics: harmless('usage.cache_read_input_tokens says how much of the prompt was cached.', isNothing),
  inference_geo: harmless('the server runs where its operator started it.'),
  // Of vLLM's other APIs and OpenAI's; without them the answer would be another.
  functions: refused('This API has no functions. Send tools.'),
  max_completion_tokens: refused('This API has no max_completion_tokens. Send max_tokens.', isNothing),
  stop: refused('This API has no stop. Send stop_sequences.'),
  reasoning_effort: refused('This API has no reasoning_effort. Send output_config: {"effort": …}.'),
};
