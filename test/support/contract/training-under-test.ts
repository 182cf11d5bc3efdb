// What the suite of training engines knows about the engine under test.
import type { EngineCapabilities } from '#engine/capabilities';
import type { TrainingEngine } from '#engine/training-engine';

export interface TrainingUnderTest {
  readonly capabilities: EngineCapabilities;
  /** False: `open` cannot set its limits. */
  readonly isBounded?: false;
  /** Writes a float32 model with the numbers that the engine computes with. Absent: the model itself. */
  readonly writeComputed?: (modelDirectory: string) => Promise<string>;
  readonly open: (options: TrainingEngineOptions) => Promise<TrainingEngine>;
}

export interface TrainingEngineOptions {
  readonly modelDirectory: string;
  readonly rowLengthMax: number;
  readonly threads: number;
}
