// Append-only: a released migration never changes. How often the reading of an operation has begun and not ended.

export const readings: readonly string[] = [
  `alter table tinker_operations add column readings integer not null default 0`,
];
