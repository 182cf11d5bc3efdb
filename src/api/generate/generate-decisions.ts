// Fields of vLLM's POST /inference/v1/generate that are not read, of the request and of its sampling_params, and fields that clients send
// in the wrong one of the two (field-decisions.ts).
import { CONSTRAINTS, OF_VLLM, OF_VLLM_SAMPLING } from '../chat/chat-decisions.ts';
import { forAll, harmless, isEmpty, isNothing, refused, type Decisions } from '../chat/field-decisions.ts';

const TEXT_ONLY = 'Models here read text only. Leave the field out.';

/** A prompt in another form than token ids. */
const OTHER_PROMPTS: Decisions = {
  ...forAll(['prompt', 'messages', 'tools', 'input'], (field) =>
    refused(
      `This endpoint continues token_ids and has no \`${field}\`. POST to /v1/completions or /v1/chat/completions.`,
    ),
  ),
  tool_choice: refused(
    'Tokens are not parsed for tool calls here. POST to /v1/chat/completions.',
    (value) => isEmpty(value) || value === 'auto' || value === 'none',
  ),
  response_format: refused('This endpoint has no field `response_format`. Send sampling_params.structured_outputs.'),
};

const RENDERED = 'the prompt is already made of tokens, and its template is not applied here.';

/** `samplingFields`: the names of what belongs into sampling_params. */
export const generateDecisions = (samplingFields: readonly string[]): Decisions => ({
  ...forAll(samplingFields, (field) => refused(`Send \`${field}\` within sampling_params.`, isNothing)),
  ...CONSTRAINTS,
  ...OTHER_PROMPTS,
  ...OF_VLLM,
  features: refused(TEXT_ONLY),
  content_parts: refused(TEXT_ONLY),
  reasoning_parser_kwargs: refused('The server chooses its reasoning parser itself. Send reasoning_ended instead.'),
  parse_context: harmless('answers are tokens or text here, and are not parsed.'),
  token_offsets: harmless('the answer does not depend on the text from which the tokens came.'),
});

/** `requestFields`: the names of what belongs beside sampling_params. */
export const samplingDecisions = (requestFields: readonly string[]): Decisions => ({
  ...forAll(requestFields, (field) => refused(`Send \`${field}\` beside sampling_params, not within.`)),
  ...CONSTRAINTS,
  ...OTHER_PROMPTS,
  ...OF_VLLM_SAMPLING,
  prompt_logprob_token_ids: refused('Chosen tokens of the prompt are not scored. Send prompt_logprobs.'),
  prompt_logprob_start: refused(
    'It belongs to prompt_logprob_token_ids, which is not supported. Leave it out.',
    (value) => isNothing(value) || value === 0,
  ),
  trace_decode_token_ids: refused('Tokens cannot be forced. Append them to token_ids and send prompt_logprobs.'),
  extra_args: harmless('there are no extensions that would read it.'),
  return_token_ids: harmless(
    'the tokens of an answer are always returned. Beside sampling_params it returns the prompt.',
  ),
  routed_experts_prompt_start: harmless('answers have no routed_experts.', (value) => isNothing(value) || value === 0),
  flat_logprobs: harmless('log-probabilities have one form in answers.'),
  output_kind: harmless('stream says in which pieces an answer comes.', isNothing),
  skip_clone: harmless('it is about objects within vLLM.'),
  output_text_buffer_length: harmless('it is about objects within vLLM.', (value) => isNothing(value) || value === 0),
  skip_reading_prefix_cache: harmless('prompts from the cache have the same answers.'),
  ...forAll(['use_beam_search', 'best_of', 'length_penalty', 'truncate_prompt_tokens', 'echo'], (field) =>
    refused(`\`${field}\` is a field of /v1/completions, which takes token ids as its prompt. Send the request there.`),
  ),
  ...forAll(['chat_template_kwargs', 'reasoning_effort'], () => harmless(RENDERED)),
});
