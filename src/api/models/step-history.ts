// The metrics of a model over its steps, for dashboards and spreadsheets.
import { Readable } from 'node:stream';
import type { ApiServices } from '../http/api-services.ts';
import { endpoint, type Endpoint } from '../http/endpoint.ts';
import { envelope, toEnvelope, toPage } from '../http/listing.ts';
import {
  HISTORY_TYPES,
  historyFormat,
  historyLines,
  historyQuery,
  historyResponse,
  historyScalars,
  historyTable,
  toHistoryResponse,
} from './step-history-schema.ts';

const FORMS = { jsonl: historyLines, csv: historyTable, tensorboard: historyScalars } as const;

export function stepHistoryRoutes({ stepHistory }: Pick<ApiServices, 'stepHistory'>): Endpoint[] {
  return [
    endpoint({
      method: 'GET',
      path: '/v1/preview/models/{model_id}/metrics',
      tag: 'Models',
      summary:
        'Read the training metrics of each step of a model, oldest first. As JSON, JSON Lines, CSV or TensorBoard events',
      access: 'read',
      errors: [404],
      query: historyQuery,
      answer: envelope(historyResponse),
      alsoAnswers: Object.values(HISTORY_TYPES),
      async handle({ caller, params, query, request, reply }) {
        const format = historyFormat(query.format, request.headers.accept);
        const page = toPage(query);
        if (format === null)
          return toEnvelope(await stepHistory.list(caller, params.model_id!, page), toHistoryResponse);
        const steps = await stepHistory.stream(caller, params.model_id!, page.after);
        const content = FORMS[format](steps);
        const charset = format === 'tensorboard' ? '' : '; charset=utf-8';
        return reply.type(`${HISTORY_TYPES[format]}${charset}`).send(Readable.from(content));
      },
    }),
  ];
}
