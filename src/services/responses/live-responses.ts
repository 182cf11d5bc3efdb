// Background responses that this server is answering: their events so far, for followers, and a way to end them. Only a shortcut:
// followers of a response on another server read what that server has stored.
import { createChanges, type Changes } from '#base/changes';
import type { ResponseEvent } from './response-content.ts';

export interface LiveResponse {
  /** By sequence number; grows. */
  readonly events: ResponseEvent[];
  readonly changes: Changes;
  /** Aborts when the answer is no longer wanted. */
  readonly cancel: () => void;
}

export interface LiveResponses {
  find(id: string): LiveResponse | null;
  begin(id: string, response: LiveResponse): void;
  end(id: string): void;
  /** A response was queued: calls all listeners. */
  queued(): void;
  /** Calls the listener until the returned function is called. */
  listen(listener: () => void): () => void;
  /** A response began, ended or was queued. */
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
