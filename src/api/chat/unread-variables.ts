// Variables of the chat template that a request sent and the model's template does not read: they had no effect, and the answer says so.
// Only the answer's model knows; which fields become which variables, each API says itself.
import type { Answer } from '#services/chat/answer';

export interface SentVariable {
  /** The client's name for it. */
  readonly field: string;
  /** Those that it sets: one that is read is enough. */
  readonly names: readonly string[];
}

/** Maximum number of named ones. */
const NAMED_MAX = 20;
const NAME_LENGTH_MAX = 100;

/** null asks for the template's default. */
export const sentKwargs = (kwargs: Readonly<Record<string, unknown>> | null | undefined): SentVariable[] =>
  Object.entries(kwargs ?? {})
    .filter(([, value]) => value !== null)
    .map(([name]) => ({ field: `chat_template_kwargs.${name.slice(0, NAME_LENGTH_MAX)}`, names: [name] }));

/** `field`: where the request says how much to think; null: it does not. */
export const sentEffort = (field: string, effort: string | null | undefined): SentVariable[] =>
  effort ? [{ field, names: ['reasoning_effort', 'enable_thinking'] }] : [];

/** Warnings. A model without a template answers no conversations. */
export function unreadVariables({ model }: Pick<Answer, 'model'>, sent: readonly SentVariable[]): string[] {
  const { chatTemplate } = model.base.text;
  const unread = sent.filter(({ names }) => !names.some((name) => chatTemplate?.accepts(name)));
  return unread
    .slice(0, NAMED_MAX)
    .map(({ field }) => `${field} was not used: this model’s chat template has no such variable.`);
}
