// Append-only: a released migration never changes.

export const waitingClients: readonly string[] = [`alter table tinker_runs add column waiting_for text`];
