// What clients report about rollouts in addition to turns and rewards: metadata, logs, exceptions. It is not used for training, so
// nothing is refused: values in an unknown format are kept as text, or left out. It is returned when a job is read.
import { z } from 'zod';
import { isObject } from '#base/is-object';
import type { GroupNotes, RolloutException, Trajectory, TrajectoryGroup, TrajectoryNotes } from '#domain/trajectory';

export const metadata = z.unknown().optional().meta({
  type: 'object',
  description: 'Any values about the rollout. They are stored, and returned when the job is read.',
});

interface WireNotes {
  readonly metadata?: unknown;
  readonly logs?: readonly string[] | null | undefined;
  readonly start_time?: string | null | undefined;
  readonly initial_policy_version?: number | null | undefined;
  readonly final_policy_version?: number | null | undefined;
}

export function trajectoryNotes(wire: WireNotes): Pick<Trajectory, 'notes'> {
  const notes: TrajectoryNotes = {
    ...shared(wire),
    ...(wire.start_time ? { startTime: wire.start_time } : {}),
    ...(typeof wire.initial_policy_version === 'number' ? { initialPolicyVersion: wire.initial_policy_version } : {}),
    ...(typeof wire.final_policy_version === 'number' ? { finalPolicyVersion: wire.final_policy_version } : {}),
  };
  return Object.keys(notes).length > 0 ? { notes } : {};
}

export function groupNotes(
  wire: WireNotes & { readonly exceptions?: readonly unknown[] | null | undefined },
): Pick<TrajectoryGroup, 'notes'> {
  const exceptions = (wire.exceptions ?? []).map(toException);
  const notes: GroupNotes = { ...shared(wire), ...(exceptions.length > 0 ? { exceptions } : {}) };
  return Object.keys(notes).length > 0 ? { notes } : {};
}

const shared = ({ metadata, logs }: WireNotes): Pick<TrajectoryNotes, 'metadata' | 'logs'> => ({
  ...(isObject(metadata) && Object.keys(metadata).length > 0 ? { metadata } : {}),
  ...(logs && logs.length > 0 ? { logs } : {}),
});

/** As the ART library writes it: type, message, traceback. */
function toException(sent: unknown): RolloutException {
  const { type, message, traceback } = isObject(sent) ? sent : { type: null, message: sent, traceback: null };
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return {
    type: text(type),
    message: text(message) ?? JSON.stringify(sent) ?? '',
    traceback: text(traceback),
  };
}
