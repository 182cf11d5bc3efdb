// Who may read /metrics: everybody, whoever has a key, whoever is on the server's machine.

export const METRICS_ACCESS = ['open', 'key', 'loopback'] as const;
export type MetricsAccess = (typeof METRICS_ACCESS)[number];
