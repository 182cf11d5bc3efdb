// A choice while it is collected: its text joined, its tokens packed (collected-tokens.ts). An answer that is not streamed, or that is kept
// for training, is held until it ends, and a delta with its token takes 270 bytes. Decides what of the deltas is held, not what is made of it.
import { createJoinedText, type JoinedText } from '#base/joined-text';
import type { TokenEvent } from '#engine/inference-engine';
import type { Finish, TextDelta } from './choice-text.ts';
import { createCollectedTokens, type CollectedTokens, type SampledToken } from './collected-tokens.ts';

/** As in answer.ts. */
interface Delta extends TextDelta {
  readonly token: TokenEvent | null;
}

export interface CollectedCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them. */
  readonly arguments: string;
}

export interface CollectedChoice {
  push(delta: Delta): void;
  readonly content: string;
  readonly reasoning: string;
  readonly calls: readonly CollectedCall[];
  /** Null: it has not ended. */
  readonly finish: Finish | null;
  readonly tokens: CollectedTokens;
  /** All that were sampled, and those of them within the reasoning. */
  readonly tokenCount: number;
  readonly thinkingCount: number;
}

/** For an answer: the tokens that it shows, with the alternatives that it lists. */
export const collectShown = (): CollectedChoice =>
  createCollectedChoice(({ hidden, token }) => (hidden ? null : token));

/** For training: every token that was sampled. */
export const collectSampled = (): CollectedChoice =>
  createCollectedChoice(({ token }) => token && { ...token, topLogprobs: [] });

function createCollectedChoice(keep: (delta: Delta) => SampledToken | null): CollectedChoice {
  const [content, reasoning] = [createJoinedText(), createJoinedText()];
  const calls: { readonly id: string; readonly name: string; readonly text: JoinedText }[] = [];
  const tokens = createCollectedTokens();
  let finish: Finish | null = null;
  let [tokenCount, thinkingCount] = [0, 0];
  return {
    push(delta) {
      const kept = keep(delta);
      if (kept) tokens.push(kept);
      if (delta.token) tokenCount++;
      if (delta.token && delta.thinking === 'within') thinkingCount++;
      content.add(delta.content);
      reasoning.add(delta.reasoning);
      for (const { index, id, name, arguments: text = '' } of delta.toolCalls) {
        if (id !== undefined) calls[index] = { id, name: name!, text: createJoinedText() };
        calls[index]!.text.add(text);
      }
      finish = delta.finish ?? finish;
    },
    tokens,
    get content() {
      return content.read();
    },
    get reasoning() {
      return reasoning.read();
    },
    get calls() {
      return calls.map(({ id, name, text }) => ({ id, name, arguments: text.read() }));
    },
    get finish() {
      return finish;
    },
    get tokenCount() {
      return tokenCount;
    },
    get thinkingCount() {
      return thinkingCount;
    },
  };
}

/** The deltas, by choice. */
export async function collectChoices(
  deltas: AsyncIterable<Delta & { readonly choiceIndex: number }>,
  count: number,
): Promise<CollectedChoice[]> {
  const choices = Array.from({ length: count }, collectShown);
  for await (const delta of deltas) choices[delta.choiceIndex]!.push(delta);
  return choices;
}
