// How large a conversation may be that a request continues or names by its items: as large as a body. A short request can name megabytes
// many times over, and every turn of a chain stores all items before it again; tokens do not bound it, because the model reads only some
// fields of an item. Knows nothing of where items are stored.
import { createBudget } from '#base/budget';
import { BODY_SHAPE } from '#base/json-shape';
import { createYielder } from '#base/yield-to-loop';
import { AppError } from '#domain/errors';
import type { Item } from './responses-input.ts';

interface ConversationBounds {
  /** Of the items as JSON; those of a body. */
  readonly bytesMax: number;
  /** The field that names the conversation. */
  readonly param: 'previous_response_id' | 'input';
}

/** An item counts as often as it is named. Throws `invalid_request` before anything is made of the items. */
export async function refuseLargeConversation(
  items: readonly Item[],
  { bytesMax, param }: ConversationBounds,
): Promise<void> {
  const refusal = (unit: string) => (most: number) =>
    new AppError(
      'invalid_request',
      `The conversation that this request continues has more than ${most} ${unit}, the most that one request may have. Begin a new one without ${param === 'input' ? 'these item references' : param}: send what the model still needs as input.`,
      { param },
    );
  const bytes = createBudget(bytesMax, refusal('bytes of JSON'));
  const values = createBudget(BODY_SHAPE.valuesMax, refusal('values'));
  const keys = new Set<string>();
  const yieldToLoop = createYielder();

  /** Nested as deeply as a body may be. */
  function weigh(value: unknown): void {
    values.spend(1);
    if (typeof value === 'string') bytes.spend(jsonBytes(value));
    else if (Array.isArray(value)) {
      bytes.spend(2 + value.length);
      for (const each of value) weigh(each);
    } else if (typeof value === 'object' && value !== null) {
      bytes.spend(2);
      for (const [key, each] of Object.entries(value)) {
        keys.add(key);
        if (keys.size > BODY_SHAPE.keysMax) throw refusal('different keys')(BODY_SHAPE.keysMax);
        bytes.spend(jsonBytes(key) + 2);
        weigh(each);
      }
    } else bytes.spend(String(value).length);
  }

  for (const item of items) {
    weigh(item);
    await yieldToLoop();
  }
}

const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));
