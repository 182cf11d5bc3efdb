// Append-only: a released migration never changes. `unsettled`: attempts that began since an answer was stored, and did not end in order.

export const evaluationAttempts: readonly string[] = [
  `alter table evaluations add column unsettled bigint not null default 0`,
];
