// Fields of the objects within a generation request that are not read: of stream_options, response_format and structured_outputs, which
// several endpoints have. Messages and tools are passed on to the chat template with all their fields.
import type { z } from 'zod';
import { STREAM_OPTIONS_DECISIONS } from './chat-decisions.ts';
import { applyDecisions } from './field-decisions.ts';
import { streamOptions } from './generation-fields.ts';
import { jsonSchema, responseFormat, structuredOutputs } from './structured-output.ts';

interface Shaped {
  readonly stream_options?: z.output<typeof streamOptions> | null | undefined;
  readonly response_format?: z.output<typeof responseFormat> | null | undefined;
  readonly structured_outputs?: z.output<typeof structuredOutputs> | null | undefined;
}

/** Warnings about them. */
export function shapeWarnings(wire: Shaped): string[] {
  const { stream_options: options, response_format: format, structured_outputs: outputs } = wire;
  return [
    ...applyDecisions(streamOptions, STREAM_OPTIONS_DECISIONS, options ?? {}, ['stream_options']),
    ...applyDecisions(responseFormat, {}, format ?? {}, ['response_format']),
    ...applyDecisions(jsonSchema, {}, format?.json_schema ?? {}, ['response_format', 'json_schema']),
    ...applyDecisions(structuredOutputs, {}, outputs ?? {}, ['structured_outputs']),
  ];
}
