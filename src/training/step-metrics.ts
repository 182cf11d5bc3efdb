// The metrics that a gradient step reports.

/** A flat map of name → number, as clients average it. */
export type StepMetrics = Readonly<Record<string, number>>;

/** Clients call float() on every value, so values that are not finite are omitted. */
export const finiteOnly = (metrics: StepMetrics): StepMetrics =>
  Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));
