// Responses that this server is answering in the background: their events so far, for whoever follows them, and a way to end them.
// Only a shortcut: whoever follows a response of another server reads what it has stored.
import { createChanges, type Changes } from '#base/changes';
import type { ResponseEvent } from './response-content.ts';

export interface LiveResponse {
  /** By their numbers; grows. */
  readonly events: ResponseEvent[];
  readonly changes: Changes;
  /** Nobody wants the answer any more. */
  readonly cancel: () => void;
}

export interface LiveResponses {
  find(id: string): LiveResponse | null;
  begin(id: string, response: LiveResponse): void;
  end(id: string): void;
  /** One was queued: calls all who listen. */
  queued(): void;
  /** Until what it gives is called. */
  listen(listener: () => void): () => void;
  /** Some response began, ended or was queued. */
  readonly changes: Changes;
}

export function createLiveResponses(): LiveResponses {
  const live = new Map<string, LiveResponse>();
  const listeners = new Set<() => void>();
  const changes = createChanges();
  return {
    find: (id) => live.get(id) ?? null,
    begin(id, response) {
      live.set(id, response);
      changes.changed();
    },
    end(id) {
      const response = live.get(id);
      live.delete(id);
      response?.changes.changed();
      changes.changed();
    },
    queued() {
      for (const listener of listeners) listener();
    },
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    changes,
  };
}
