// Who may read /metrics: everyone, holders of any API key, or clients on the server's machine.

export const METRICS_ACCESS = ['open', 'key', 'loopback'] as const;
export type MetricsAccess = (typeof METRICS_ACCESS)[number];
