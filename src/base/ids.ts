// Identifiers and secrets, from the operating system's generator.
import { randomBytes, randomUUID } from 'node:crypto';

export const createId = (): string => randomUUID();

/** 32 hex characters, as vLLM's request ids. */
export const createRequestId = (): string => randomBytes(16).toString('hex');

/** Shown once to its owner; only a hash is stored. 40 characters after the dash: the `wandb` library accepts no fewer. */
export const createApiKeySecret = (): string => `wk-${randomBytes(30).toString('base64url')}`;

/** A signing secret, shown once to its owner. 32 bytes, in the form of Standard Webhooks. */
export const createWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;
