// Prompts of evaluations: lines → domain.
import { z } from 'zod';
import { createFieldCounts } from '#base/field-counts';
import { BODY_SHAPE } from '#base/json-shape';
import { nonEmpty } from '#base/non-empty';
import type { EvaluationPrompt, ReadEvaluationLine } from '#domain/evaluation';
import { parseJson } from '#validation/json-text';
import { list } from '#validation/lax';
import { parse } from '#validation/parse';
import { asSent } from '#validation/read-ahead';
import { sentFields, unknownNames } from '#validation/unknown-fields';
import { message, tool } from './message.ts';
import { problemOf } from './problem.ts';

const MESSAGES_MAX = 2_000;
const TOOLS_MAX = 2_000;

export const tools = list(tool, TOOLS_MAX).nullish();

export const promptRow = z
  .looseObject({
    messages: list(message, MESSAGES_MAX).describe(
      "If the last message is the assistant's, it is not shown to the model: it becomes the `reference` of the prompt.",
    ),
    tools,
    metadata: asSent(z.record(z.string(), z.unknown())).nullish().describe('Returned with the answers.'),
  })
  .meta({ title: 'EvaluationPrompt' });

export const readEvaluationLine: ReadEvaluationLine = (text) => {
  try {
    return toPrompt(parse(promptRow, parseJson(text, BODY_SHAPE), 'body'));
  } catch (error) {
    return { problem: problemOf(error) };
  }
};

export function toPrompt(row: z.output<typeof promptRow>): ReturnType<ReadEvaluationLine> {
  const { messages, tools: own, metadata } = row;
  const last = messages.at(-1);
  const reference = last?.role === 'assistant' ? last : null;
  const asked = reference ? messages.slice(0, -1) : messages;
  if (asked.length === 0) return { problem: 'must contain a message that can be answered' };
  const prompt: EvaluationPrompt = { messages: asked, tools: nonEmpty(own), reference, metadata: metadata ?? {} };
  return { prompt, unused: unknownNames(promptRow, sentFields(row)) };
}

/** Names what no evaluation uses of its prompts, in a sentence. */
export function createUnusedOfPrompts() {
  const fields = createFieldCounts('prompt');
  return {
    note(unused: readonly string[]): void {
      for (const field of unused) fields.add(field);
    },
    warnings(): string[] {
      const named = fields.words();
      if (named === null) return [];
      return [
        `Fields of the evaluation's prompts that are not used: ${named}. What is to come back with the answers belongs into metadata.`,
      ];
    },
  };
}
