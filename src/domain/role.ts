// The parts that a server can play. Servers that share a Postgres and a blob store may divide them among themselves; one
// alone plays all. Knows nothing of how a server is found that plays another part: that is the proxy's before them.

export const ROLES = ['api', 'serve', 'train'] as const;

/** api: models, jobs, artifacts, keys and their webhooks. serve: chat. train: runs the jobs. */
export type Role = (typeof ROLES)[number];

/** In messages. */
export const ROLE_DOES: Readonly<Record<Role, string>> = {
  api: 'models, jobs, artifacts, keys and webhooks',
  serve: 'chat',
  train: 'training',
};
