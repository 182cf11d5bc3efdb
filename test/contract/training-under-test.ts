// What the suite of training engines knows of the one that it runs on.
import type { EngineCapabilities } from '#engine/capabilities';
import type { TrainingEngine } from '#engine/training-engine';

export interface TrainingUnderTest {
  readonly capabilities: EngineCapabilities;
  /** False: `open` cannot give it other limits than its own. */
  readonly isBounded?: false;
  /** Writes the model in float32 whose numbers it computes. Absent: the very model. */
  readonly writeComputed?: (modelDirectory: string) => Promise<string>;
  readonly open: (options: TrainingEngineOptions) => Promise<TrainingEngine>;
}

export interface TrainingEngineOptions {
  readonly modelDirectory: string;
  readonly rowLengthMax: number;
  readonly threads: number;
}
