// Why no value satisfies a schema: the first place that could not be enforced, else the first that contradicts the rest.
import type { AppError } from '#domain/errors';
import { refusal } from './refusal.ts';

export class Causes {
  private readonly droppedAt: string[] = [];
  private readonly neverAt: string[] = [];
  private readonly reasons = new Map<string, string>();

  /** What the schema says at this place cannot be expressed. */
  dropped(pointer: string, reason?: string): void {
    this.droppedAt.push(pointer);
    if (reason !== undefined) this.reasons.set(pointer, reason);
  }

  /** No value satisfies the schema at this place. */
  never(pointer: string): void {
    this.neverAt.push(pointer);
  }

  refusal(): AppError {
    const place = this.droppedAt[0];
    if (place === undefined) return refusal(this.neverAt[0] ?? '', 'no value satisfies the schema');
    return refusal(place, this.reasons.get(place) ?? `\`${place.split('/').at(-1)}\` cannot be enforced here`);
  }
}
