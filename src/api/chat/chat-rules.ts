// Rules across the fields of a generation request, checked on the raw JSON before types, as in vLLM: only the first violation is
// reported. Ranges of single fields are in chat-request.ts.
import { isObject } from '#base/is-object';
import { refuse } from '#validation/parse';

type Body = Readonly<Record<string, unknown>>;

/** vLLM's validators, last declared first: the order in which they run. */
export function refuseForbiddenCombinations(body: Body): void {
  checkCacheSalt(body);
  if (body.continue_final_message === true && body.add_generation_prompt === true)
    refuse(['body'], 'Cannot set both `continue_final_message` and `add_generation_prompt` to True.', body);
  checkTools(body);
  refuseOtherChoices(body);
  checkToolChoice(body);
  checkStructuredOutputs(body);
  checkTopLogprobs(body);
  checkListedTokens(body);
  checkPromptLogprobs(body);
  checkStreamOptions(body);
}

/** For requests that start with a text. */
export function refuseForbiddenOfCompletions(body: Body): void {
  checkCacheSalt(body);
  checkStructuredOutputs(body);
  checkListedTokens(body);
  checkPromptLogprobs(body);
  checkStreamOptions(body);
}

/** For requests that start with token ids: `body` has the sampling parameters among its fields. */
export function refuseForbiddenOfTokens(body: Body): void {
  checkCacheSalt(body);
  checkStructuredOutputs(body);
  checkPromptLogprobs(body);
  checkStreamOptions(body);
}

function checkStreamOptions(body: Body): void {
  if (isObject(body.stream_options) && Object.keys(body.stream_options).length > 0 && body.stream !== true)
    refuse(['body'], 'Stream options can only be defined when `stream=True`.', body);
}

function checkCacheSalt(body: Body): void {
  const salt = body.cache_salt;
  if (salt === undefined || salt === null || (typeof salt === 'string' && salt !== '')) return;
  refuse(['body'], "Parameter 'cache_salt' must be a non-empty string if provided.", body);
}

/** The schema would list what each of its forms lacks. */
export function refuseOtherChoices({ tool_choice: choice }: Body): void {
  const type = isObject(choice) ? choice['type'] : undefined;
  if (typeof type !== 'string' || type === 'function' || type === 'allowed_tools') return;
  const why = `A tool_choice of type ${type.slice(0, 50)} is not supported: models here call functions only.`;
  refuse(['body', 'tool_choice', 'type'], why, type);
}

/** The schema would only say that `function` is missing. */
function checkTools({ tools }: Body): void {
  if (!Array.isArray(tools)) return;
  const custom = (tools as unknown[]).findIndex((tool) => isObject(tool) && tool['type'] === 'custom');
  if (custom >= 0)
    refuse(
      ['body', 'tools', custom, 'type'],
      'Custom tools, which take free text, are not supported. Send a function with one string parameter instead.',
      'custom',
    );
}

function checkToolChoice(body: Body): void {
  const choice = body.tool_choice;
  if (choice === undefined || choice === null || choice === 'none') return;
  const tools = Array.isArray(body.tools) ? (body.tools as unknown[]) : [];
  if (tools.length === 0 && (isObject(choice) || choice === 'auto' || choice === 'required'))
    refuse(['body'], 'When using `tool_choice`, `tools` must be set.', body);
  if (!isObject(choice)) return;
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools.tools : [];
  const known = new Set(tools.map(toolName));
  const unknown = [choice, ...(Array.isArray(allowed) ? (allowed as unknown[]) : [])]
    .map(toolName)
    .find((name) => name !== null && !known.has(name));
  if (typeof unknown === 'string')
    refuse(
      ['body'],
      `The tool specified in \`tool_choice\` (${unknown.slice(0, 100)}) does not match any of the specified \`tools\`.`,
      body,
    );
}

const toolName = (tool: unknown): string | null =>
  isObject(tool) && isObject(tool.function) && typeof tool.function.name === 'string' ? tool.function.name : null;

function checkStructuredOutputs(body: Body): void {
  if (!isObject(body.structured_outputs)) return;
  const { json, regex, choice } = body.structured_outputs;
  if ([json, regex, choice].filter((value) => value !== undefined && value !== null).length > 1)
    refuse(
      ['body'],
      "You can only use one kind of constraints for structured outputs ('json', 'regex' or 'choice').",
      body,
    );
}

function checkTopLogprobs(body: Body): void {
  const top = body.top_logprobs;
  if (typeof top !== 'number') return;
  if (top < 0 && top !== -1) refuse(['body'], '`top_logprobs` must be a positive value or -1.', body);
  if (top !== 0 && !body.logprobs) refuse(['body'], 'when using `top_logprobs`, `logprobs` must be set to true.', body);
}

/** In completions, 0 alternatives also request log-probabilities. */
function checkListedTokens({ logprob_token_ids: ids, logprobs, use_beam_search: beams }: Body): void {
  if (!Array.isArray(ids) || ids.length === 0) return;
  if (beams === true) refuse(['body'], '`logprob_token_ids` is not supported with beam search.', ids);
  if (logprobs === undefined || logprobs === null || logprobs === false)
    refuse(['body'], 'when using `logprob_token_ids`, `logprobs` must be set to true.', ids);
}

function checkPromptLogprobs(body: Body): void {
  const count = body.prompt_logprobs;
  if (typeof count !== 'number') return;
  if (body.stream === true && (count > 0 || count === -1))
    refuse(['body'], '`prompt_logprobs` are not available when `stream=True`.', body);
  if (count < 0 && count !== -1) refuse(['body'], '`prompt_logprobs` must be a positive value or -1.', body);
}
