// Completions: texts or token ids in, their continuation out. One generation per prompt, without conversation or tools; thinking stays in the text.
// answer.ts makes the answer, as for chat.
import type { GenerateRequest } from '#engine/inference-engine';
import { AppError } from '#domain/errors';
import type { SamplingParams } from '#domain/sampling';
import type { Recorder } from '../episodes/recorder.ts';
import { beginAnswer, type Answer, type AnswerDeps, type Capture, type ChatContext } from './answer.ts';
import { beginCapture, PLAIN_PROMPT, reshapedByOf } from './capture.ts';
import { checkSampling } from './check-capabilities.ts';
import { checkListed } from './listed-alternatives.ts';
import type { CompletionRequest } from './chat-request.ts';
import { primaryEos, type ChoiceTextOptions } from './choice-text.ts';
import { collectSampled, type CollectedChoice } from './collected-choice.ts';
import { compileConstraint } from './compile-constraint.ts';
import type { SampledModel } from '../models/models.ts';
import { checkPriority, resolveModel, servingOf, type ChatSettings, type ModelDeps } from './request-serving.ts';
import { contextOf, readPrompt } from './read-prompt.ts';
import { remembering } from './remembering.ts';
import { roomFor } from './room.ts';
import type { SampledTokens } from './sampled-tokens.ts';
import { samplingParams } from './sampling-params.ts';
import { endOfThinking, thinkingAfter, thinkingBudget } from './thinking.ts';

export interface CompletionAnswer extends Answer {
  /** The prompt as sent; for token ids, their text. */
  readonly promptText: string;
}

export interface Completions {
  /** One answer per prompt, in order. Throws as chat does; nothing runs before the deltas are read. */
  start(context: ChatContext, request: CompletionRequest): Promise<readonly CompletionAnswer[]>;
}

export interface CompletionsDeps extends AnswerDeps, ModelDeps {
  readonly recorder: Recorder;
  readonly sampledTokens: SampledTokens;
  readonly settings: ChatSettings;
}

export function createCompletions({ sampledTokens, settings, ...deps }: CompletionsDeps): Completions {
  return {
    async start(context, request) {
      checkPriority(request, settings);
      const model = await resolveModel(deps, context, request.model);
      const by = { payer: context.caller.keyId, signal: context.signal };
      if (request.constraint) await compileConstraint(model, request.constraint, by);
      const planned: { asked: GenerateRequest; promptText: string }[] = [];
      for (const [index, prompt] of request.prompts.entries()) {
        const { tokens, text } = await readPrompt(
          model,
          {
            ...request,
            name: request.promptName,
            answerRoom: Math.max(1, request.sampling.maxTokens ?? 1),
            skipSpecialTokens: request.output.skipSpecialTokens,
          },
          prompt,
          by,
        );
        const room = roomFor(request.sampling, tokens.length, contextOf(model), request.promptName);
        const { tokenizer } = model.base.text;
        const thinking = request.thinking && thinkingAfter(model.base.text, tokens, request.thinking.hasEnded);
        const sampling: SamplingParams = {
          ...samplingParams(request, model.base.text, room, settings.logprobsMax),
          thinkingBudget: thinkingBudget(request.sampling, thinking, tokenizer),
        };
        checkSampling(sampling, model.base.capabilities);
        const asked: GenerateRequest = {
          requestId: request.prompts.length === 1 ? context.requestId : `${context.requestId}-${index}`,
          promptTokens: tokens,
          adapter: model.adapter,
          sampling,
          n: request.bestOf,
          constraint: request.constraint && {
            constraint: request.constraint.constraint,
            afterTokenId: endOfThinking(thinking, tokenizer),
          },
          ...servingOf(context, request),
        };
        planned.push({ asked, promptText: text });
      }
      const { vocabSize } = model.base.inference;
      const prompts = planned.map(({ asked }) => asked);
      const echoes = request.output.echo && request.output.logprobs ? request.n : 0;
      checkListed(prompts, vocabSize, request.output.topLogprobsField, echoes);
      const choice = choiceOptions(model, request);
      const { beamSearch } = request;
      if (context.episode && request.bestOf > request.n) refuseUnseenChoices();
      const asker = request.promptOnly ? untrained(context) : context;
      const captureFor = await beginCapture(deps.recorder, asker, model, prompts);
      return planned.map(({ asked: generate, promptText }, prompt) => {
        const reshapedBy = reshapedByOf(generate, beamSearch);
        const conversation = COMPLETION; // found by the answer's id: there are no messages
        const keep = remembering(sampledTokens, context, model, { generate, conversation, reshapedBy });
        // Which of more choices are returned is decided later.
        const isReturned = request.n === request.bestOf && !request.promptOnly;
        const remember = keep && isReturned ? keepAt(keep, prompt * request.n) : null;
        const store = captureFor?.({ generate, beamSearch, asked: PLAIN_PROMPT }) ?? null;
        const capture = store && request.promptOnly ? withoutTokens(store) : store;
        return {
          ...beginAnswer(deps, context, { model, generate, choice, beamSearch, remember, capture }),
          promptText,
        };
      });
    },
  };
}

/** All choices of an episode get its reward: those that the client never sees must not be among them. */
function refuseUnseenChoices(): never {
  const message =
    'best_of larger than n samples choices that the client never sees, and an episode would train them. Send best_of equal to n.';
  throw new AppError('invalid_request', message, { param: 'best_of' });
}

/** A text that is only scored has no answer that could be trained. */
const untrained = <C extends Pick<ChatContext, 'episode'>>(context: C): C => ({
  ...context,
  ...(context.episode ? { episode: { ...context.episode, isTrained: false } } : {}),
});

const withoutTokens =
  (store: Capture): Capture =>
  (said, isCut) =>
    store(said.map(collectSampled), isCut);

const COMPLETION = 'completion';

type Keep = NonNullable<ReturnType<typeof remembering>>;

/** Choices are numbered over all prompts. */
const keepAt =
  (keep: Keep, first: number): Keep =>
  (said, index) =>
    keep(said, first + index);

/** Nothing is parsed out of the text. */
function choiceOptions({ base: { text } }: SampledModel, request: CompletionRequest): ChoiceTextOptions {
  const { sampling, output, beamSearch } = request;
  return {
    stops: beamSearch ? [] : sampling.stop,
    includeStop: output.includeStop,
    minTokens: sampling.minTokens,
    skipSpecialTokens: output.skipSpecialTokens,
    primaryEos: primaryEos(sampling, text.eosTokenIds),
    reasoning: null,
    tools: null,
  };
}

/** The `n` choices with the highest mean log-probability, best first. */
export function bestChoices(choices: readonly CollectedChoice[], n: number): CollectedChoice[] {
  if (choices.length <= n) return [...choices];
  const score = ({ tokens: { logprobs } }: CollectedChoice) =>
    logprobs.reduce((sum, logprob) => sum + logprob, 0) / Math.max(1, logprobs.length);
  return choices.toSorted((a, b) => score(b) - score(a)).slice(0, n);
}
