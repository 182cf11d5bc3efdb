// Reads an answer as the server does: reasoning first, then the calls in the rest, and calls with which unclosed reasoning ends.
import type { ReasoningParserName, ToolParserName } from '#domain/answer-parsers';
import type { ToolDefinition } from '#domain/chat';
import { reasoningSyntaxNamed } from '#text/reasoning-parser';
import { createCallsInThinking } from '#text/reasoning-parser/calls-in-thinking';
import type { ThinkingState } from '#text/reasoning-parser/reasoned-text';
import { toolSyntaxNamed } from '#text/tool-parser';

export interface AnswerParsers {
  readonly reasoning: ReasoningParserName;
  readonly tools: ToolParserName;
  readonly state: ThinkingState;
  readonly definitions: readonly ToolDefinition[];
}

export interface ReadAnswer {
  readonly reasoning: string;
  readonly content: string;
  readonly calls: readonly (readonly [name: string, args: string])[];
}

/** `isStopped`: the model ended the answer itself; otherwise it was cut off. */
export function readAnswer(parsers: AnswerParsers, pieces: readonly string[], isStopped: boolean): ReadAnswer {
  const syntax = toolSyntaxNamed(parsers.tools, null)!;
  const newParser = () => syntax.createParser(parsers.definitions);
  const parser = newParser();
  const thinking = reasoningSyntaxNamed(parsers.reasoning)?.createParser(parsers.state);
  const thinker = thinking && createCallsInThinking(thinking, { opens: syntax.opens, newParser });
  const parts = thinker
    ? [...pieces.map((piece) => thinker.push(piece)), thinker.flush(isStopped)]
    : pieces.map((content) => ({ reasoning: '', content }));
  let content = '';
  const calls: [name: string, args: string][] = [];
  for (const delta of [...parts.flatMap((part) => parser.push(part.content)), ...parser.flush(isStopped)]) {
    if (delta.kind === 'content') content += delta.text;
    else if (delta.kind === 'call') calls[delta.index] = [delta.name, ''];
    else calls[delta.index]![1] += delta.text;
  }
  return { reasoning: parts.map((part) => part.reasoning).join(''), content, calls };
}
