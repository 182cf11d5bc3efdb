// The roles of a server. Servers that share a Postgres and a blob store may divide the roles among themselves; a single server has all of
// them. Routing requests to the right server is the job of a proxy in front of them.

export const ROLES = ['api', 'serve', 'train'] as const;

/** api: models, jobs, artifacts, keys and their webhooks. serve: chat. train: runs the jobs. */
export type Role = (typeof ROLES)[number];

/** What each role answers, for messages. */
export const ROLE_DOES: Readonly<Record<Role, string>> = {
  api: 'models, jobs, artifacts, keys and webhooks',
  serve: 'chat',
  train: 'training',
};
