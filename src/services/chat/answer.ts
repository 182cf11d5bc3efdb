// Turns sampled tokens into the text of their choices as they arrive, and records their usage. Shared by chat and completions, which
// differ only in how the prompt is made.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { dayUtcAt, type RequestUse } from '#domain/usage';
import type { GenerateRequest, PromptReport, TokenEvent } from '#engine/inference-engine';
import type { EpisodeRef } from '../episodes/recorder.ts';
import type { SampledModel } from '../models/models.ts';
import { searchBeams } from './beam-search.ts';
import type { GenerationOptions } from './chat-request.ts';
import { createChoiceText, type ChoiceTextOptions, type TextDelta } from './choice-text.ts';
import { collectSampled, type CollectedChoice } from './collected-choice.ts';
import { generateWithReplay } from './replaying-generation.ts';

/** One sampled token and the text that it completed. */
export interface ChatDelta extends TextDelta {
  readonly choiceIndex: number;
  /** Null: no token was possible, and the choice ends here. */
  readonly token: TokenEvent | null;
}

/** A started answer; chat adds how it is presented, completions what precedes it. */
export interface Answer {
  readonly model: SampledModel;
  readonly promptTokens: readonly number[];
  /** Known when the first delta arrives. */
  readonly prompt: { report: PromptReport | null };
  /** Ends when every choice has finished. Leaving the loop stops the generation. */
  readonly deltas: AsyncIterable<ChatDelta>;
}

export interface ChatContext {
  readonly caller: Caller;
  /** For usage accounts; empty: none was named. */
  readonly project: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Background work: queued after all other requests, and not remembered for training. */
  readonly isBackground?: boolean;
  /** The episode that the call belongs to; undefined: none. */
  readonly episode?: EpisodeRef;
  /** Told which model answers as soon as it is found, so that refusals can name it too. */
  readonly onModel?: (model: SampledModel) => void;
  /** The id that the client gets with the answer. Absent: the answer is not found by its id later. */
  readonly answerId?: string;
}

export interface AnswerRequest {
  readonly model: SampledModel;
  /** Its seed is not null. */
  readonly generate: GenerateRequest;
  readonly choice: ChoiceTextOptions;
  readonly beamSearch: GenerationOptions['beamSearch'];
  /** Called with each choice when it ends. Null: they are not remembered. */
  readonly remember: ((said: CollectedChoice, choiceIndex: number) => void) | null;
  /**
   * Stores the tokens of all choices, by choice: awaited before the last delta is passed on, or when the answer was cut off or came to a dead end. Null: they
   * are not stored.
   */
  readonly capture: Capture | null;
}

export type Capture = (said: readonly CollectedChoice[], isCut: boolean) => Promise<void>;

export interface AnswerDeps {
  /** Called once for each request that started, however it ends. */
  readonly recordUsage: (use: RequestUse) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Nothing runs before the deltas are read; reading them throws the engine's errors. */
export function beginAnswer(
  { recordUsage, clock, log }: AnswerDeps,
  { caller, project, requestId, signal }: ChatContext,
  { model, generate, choice, beamSearch, remember, capture }: AnswerRequest,
): Answer {
  const { inference, capabilities, text } = model.base;
  const replaying = (asked: GenerateRequest) => generateWithReplay(inference, asked, capabilities, log, signal);
  const stream = beamSearch ? searchBeams(replaying, generate, beamSearch) : replaying(generate);
  const prompt: Answer['prompt'] = { report: null };

  async function* deltas(): AsyncGenerator<ChatDelta> {
    const choices = Array.from({ length: generate.n }, () => createChoiceText(text.tokenizer, choice));
    const said = choices.map(collectSampled);
    const open = new Set(choices.keys());
    let completionTokens = 0;
    let isCaptured = capture === null;
    const captured = async (isCut: boolean) => {
      isCaptured = true;
      await capture!(said, isCut);
    };
    try {
      for await (const token of stream) {
        completionTokens++;
        prompt.report = token.prompt ?? prompt.report;
        const { choiceIndex } = token;
        const delta = { choiceIndex, token, ...choices[choiceIndex]!.push(token) };
        if (delta.finish && token.finishReason === null) stream.cancelChoice(choiceIndex); // a stop string ended it
        if (delta.finish) open.delete(choiceIndex);
        if (remember || capture) said[choiceIndex]!.push(delta);
        if (remember && delta.finish) remember(said[choiceIndex]!, choiceIndex);
        if (!isCaptured && open.size === 0) await captured(false);
        yield delta;
      }
    } catch (error) {
      // An answer that has begun is returned, streamed or not: the tokens so far, and why it ended.
      const isDeadEnd = error instanceof AppError && error.code === 'dead_end';
      if (!isDeadEnd || completionTokens === 0) throw error;
      if (!isCaptured) await captured(true);
      for (const choiceIndex of open) yield { choiceIndex, token: null, ...choices[choiceIndex]!.endDead() };
    } finally {
      if (!isCaptured && completionTokens > 0)
        await captured(true).catch((err: unknown) => log.warn('episode.cut_not_stored', { requestId, err }));
      recordUsage({
        entity: caller.entity,
        keyId: caller.keyId,
        project,
        model: model.servedName,
        dayUtc: dayUtcAt(clock.now()),
        promptTokens: generate.promptTokens.length,
        cachedTokens: prompt.report?.cachedTokenCount ?? 0,
        completionTokens,
      });
    }
  }

  return { model, promptTokens: generate.promptTokens, prompt, deltas: deltas() };
}
