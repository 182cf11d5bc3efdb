// Append-only: a released migration never changes. What people write on a model. `tags`: a JSON array of texts.

export const modelLabels: readonly string[] = [
  `alter table models add column tags text not null default '[]'`,
  `alter table models add column note text`,
  `alter table models add column archived_at_ms bigint`,
];
