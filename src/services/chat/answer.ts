// Tokens that an engine samples → the text of their choices, while they come; what they cost goes to the accounts. Chat and
// completions differ in how a prompt is made, and in nothing here.
import type { Clock } from '#base/clock';
import type { Log } from '#base/log';
import type { Caller } from '#domain/caller';
import { AppError } from '#domain/errors';
import { dayUtcAt, type RequestUse } from '#domain/usage';
import type { GenerateRequest, PromptReport, TokenEvent } from '#engine/inference-engine';
import type { SampledModel } from '../models/models.ts';
import { searchBeams } from './beam-search.ts';
import type { GenerationOptions } from './chat-request.ts';
import { createChoiceText, type ChoiceTextOptions, type TextDelta } from './choice-text.ts';
import { generateWithReplay } from './replaying-generation.ts';

/** One sampled token and the text it completed. */
export interface ChatDelta extends TextDelta {
  readonly choiceIndex: number;
  /** Null: none could come, and the choice ends here. */
  readonly token: TokenEvent | null;
}

/** What a request is answered with: chat adds how it is shown, completions what stood before it. */
export interface Answer {
  readonly model: SampledModel;
  readonly promptTokens: readonly number[];
  /** Known with the first delta. */
  readonly prompt: { report: PromptReport | null };
  /** Ends when every choice has its finish. Leaving the loop stops the generation. */
  readonly deltas: AsyncIterable<ChatDelta>;
}

export interface ChatContext {
  readonly caller: Caller;
  /** For the accounts; empty: none was named. */
  readonly project: string;
  readonly requestId: string;
  readonly signal: AbortSignal;
  /** Nobody waits for it: it goes behind all others, and what is said is not remembered for training. */
  readonly isBackground?: boolean;
}

export interface SaidToken {
  readonly token: TokenEvent;
  readonly delta: TextDelta;
}

export interface Asked {
  readonly model: SampledModel;
  /** Its seed is not null. */
  readonly generate: GenerateRequest;
  readonly choice: ChoiceTextOptions;
  readonly beamSearch: GenerationOptions['beamSearch'];
  /** Told what each choice has said, when it ends. Null: nobody asks, and it is not kept. */
  readonly remember: ((said: readonly SaidToken[]) => void) | null;
}

export interface AnswerDeps {
  /** Called once per request that began, however it ends. */
  readonly recordUsage: (use: RequestUse) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Nothing runs before the deltas are read; they throw what engines throw. */
export function beginAnswer(
  { recordUsage, clock, log }: AnswerDeps,
  { caller, project, signal }: ChatContext,
  { model, generate, choice, beamSearch, remember }: Asked,
): Answer {
  const { inference, capabilities, text } = model.base;
  const replaying = (asked: GenerateRequest) => generateWithReplay(inference, asked, capabilities, log, signal);
  const stream = beamSearch ? searchBeams(replaying, generate, beamSearch) : replaying(generate);
  const prompt: Answer['prompt'] = { report: null };

  async function* deltas(): AsyncGenerator<ChatDelta> {
    const choices = Array.from({ length: generate.n }, () => createChoiceText(text.tokenizer, choice));
    const said = choices.map((): SaidToken[] => []);
    const open = new Set(choices.keys());
    let completionTokens = 0;
    try {
      for await (const token of stream) {
        completionTokens++;
        prompt.report = token.prompt ?? prompt.report;
        const { choiceIndex } = token;
        const delta = choices[choiceIndex]!.push(token);
        if (delta.finish && token.finishReason === null) stream.cancelChoice(choiceIndex); // a stop string ended it
        if (delta.finish) open.delete(choiceIndex);
        if (remember) said[choiceIndex]!.push({ token, delta });
        if (remember && delta.finish) remember(said[choiceIndex]!);
        yield { choiceIndex, token, ...delta };
      }
    } catch (error) {
      // Whole or streamed, an answer that has begun is an answer: what was said stands, and why it ends.
      const isDeadEnd = error instanceof AppError && error.code === 'dead_end';
      if (!isDeadEnd || completionTokens === 0) throw error;
      for (const choiceIndex of open) yield { choiceIndex, token: null, ...choices[choiceIndex]!.endDead() };
    } finally {
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
