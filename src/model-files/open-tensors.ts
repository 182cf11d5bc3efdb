// The tensors of a model directory, whatever files they are in: safetensors, or the GGUF file that the directory was made for.
import { openGgufTensors } from './gguf/gguf-model.ts';
import { openSafetensors, type TensorSource } from './safetensors.ts';

export const openTensors = async (directory: string): Promise<TensorSource> =>
  (await openGgufTensors(directory)) ?? openSafetensors(directory);
