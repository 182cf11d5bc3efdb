// The name of a model on the Hugging Face Hub: `owner/name`, which of its GGUF files, which revision. Does not access files.
import { isCommit } from './hub-file.ts';

/** A model of the Hub at a revision: a branch, a tag, or a commit. */
export interface HubModel {
  readonly id: string;
  readonly revision: string;
  /** Which of its GGUF files: `Q8_0`, or a file's name. Null: not given; most models have no GGUF files. */
  readonly tag: string | null;
}

/** The name as in `--model`. */
export const nameOf = ({ id, tag, revision }: HubModel): string =>
  `${id}${tag === null ? '' : `:${tag}`}${revision === 'main' ? '' : `@${revision}`}`;

/** The names that the Hub allows; `./model` and `/model` are paths. */
export const HUB_ID = /^[A-Za-z0-9][\w.-]*\/[\w.-]+$/;

/** A branch, a tag, a commit, or `refs/pr/1`. */
const REVISION = /^\w[\w.-]*(?:\/\w[\w.-]*)*$/;

/** Clients see a model's quantisation but not its revision: `owner/name:Q8_0`, as in llama.cpp and Ollama. */
export function parseHubModel(name: string): HubModel | null {
  const [what = '', revision = 'main', ...more] = name.split('@');
  const [id = '', tag = null, ...others] = what.split(':');
  if (!HUB_ID.test(id) || !REVISION.test(revision) || more.length > 0) return null;
  if ((tag !== null && !REVISION.test(tag)) || others.length > 0) return null;
  return { id, revision: isCommit(revision.toLowerCase()) ? revision.toLowerCase() : revision, tag };
}
