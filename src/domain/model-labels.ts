// What people write on a model to find it again: tags, a note, and whether it is put away. Nothing of it changes how the model answers
// or trains.

export interface ModelLabels {
  /** In the order in which they were set; each once. */
  readonly tags: readonly string[];
  readonly note: string | null;
  /** Lists leave archived models out unless they are asked for; null: it is not archived. */
  readonly archivedAtMs: number | null;
}

export const NO_LABELS: ModelLabels = { tags: [], note: null, archivedAtMs: null };

/** The models of a project, in numbers. */
export interface ModelProject {
  readonly project: string;
  /** Without the archived ones. */
  readonly modelCount: number;
  readonly archivedCount: number;
  /** The latest activity of one of its models, archived or not. */
  readonly activeAtMs: number;
}
