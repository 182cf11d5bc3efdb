// What a client requests before it trains or samples: client settings, a session, heartbeats, the base models.
import type { Tinker } from '#services/tinker/tinker';
import type { Endpoint } from '../http/endpoint.ts';
import * as answers from './tinker-answers.ts';
import { tinkerRoute } from './tinker-endpoint.ts';
import * as wire from './tinker-schema.ts';

/** Each sample in progress is an open request. */
const CONCURRENT_SAMPLES = 500;

/** SDKs before 0.25 send data as JSON, and to another route, unless this setting says otherwise. Later ones have no such settings. */
const AS_LATER_ONES = { proto_write_fwdbwd: true, fwd_via_fwdbwd: true };

export function sessionRoutes({ sessions, names }: Pick<Tinker, 'sessions' | 'names'>): Endpoint[] {
  return [
    tinkerRoute('GET /healthz', {
      summary: 'Check that the server responds',
      access: 'any key',
      role: 'every',
      answer: answers.status('ok'),
      handle: async () => ({ status: 'ok' }),
    }),
    tinkerRoute('POST /client/config', {
      summary: 'Read the settings of the SDK for this server',
      access: 'any key',
      role: 'every',
      body: wire.clientConfig,
      answer: answers.clientConfig,
      handle: async () => ({ sample_max_concurrent_requests: CONCURRENT_SAMPLES, ...AS_LATER_ONES }),
    }),
    tinkerRoute('POST /client/dynamic_config', {
      summary: 'Read the dynamic settings of the SDK. There are none',
      access: 'any key',
      role: 'every',
      body: wire.clientConfig,
      answer: answers.noSettings,
      handle: async () => ({}),
    }),
    tinkerRoute('POST /telemetry', {
      summary: 'Send telemetry of the SDK. It is neither read nor stored',
      access: 'any key',
      role: 'every',
      body: wire.telemetry,
      answer: answers.status('accepted'),
      handle: async () => ({ status: 'accepted' }),
    }),
    tinkerRoute('GET /get_server_capabilities', {
      summary: 'List the base models',
      access: 'any key',
      answer: answers.capabilities,
      handle: async () => ({
        supported_models: names.list().map(({ name, base: { text, inference } }) => ({
          model_name: name,
          max_context_length: Math.min(text.contextLength, inference.contextLength),
          trainable: true,
          sampleable: true,
        })),
      }),
    }),
    tinkerRoute('POST /create_session', {
      summary: 'Start a session',
      access: 'any key',
      body: wire.createSession,
      answer: answers.session,
      async handle({ caller, body: { tags, user_metadata: metadata, project_id: project, display_name: name } }) {
        const { id } = await sessions.create(caller, { tags: tags ?? [], metadata: metadata ?? {} });
        const dropped = [...(project ? ['project_id'] : []), ...(name ? ['display_name'] : [])].join(' and ');
        const warning = { warning_message: `This server does not store ${dropped} of a session.` };
        return { session_id: id, ...(dropped ? warning : {}) };
      },
    }),
    tinkerRoute('POST /session_heartbeat', {
      summary: 'Send a heartbeat of the client of a session',
      access: 'any key',
      errors: [404],
      body: wire.heartbeat,
      answer: answers.heartbeat,
      async handle({ caller, body }) {
        await sessions.touch(caller, body.session_id);
        return { type: 'session_heartbeat' };
      },
    }),
    tinkerRoute('POST /sessions/{session_id}/finish', {
      summary: 'End a session',
      access: 'any key',
      errors: [404],
      body: wire.finishSession,
      answer: null,
      async handle({ caller, params }) {
        await sessions.end(caller, params['session_id']!);
      },
    }),
  ];
}
