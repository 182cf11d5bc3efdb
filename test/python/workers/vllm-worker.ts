// How tests start a worker with the CPU build of vLLM.

/** The interpreter of scripts/python-env.sh vllm. */
export const VLLM_PYTHON = process.env['WHETSTONE_VLLM_PYTHON'];

/**
 * A GiB of keys and values is enough for tests; threads bound to cores would all compete for the same ones; a second thread of one process
 * mostly waits for the first, which takes half the processor time of a start; and where the engine and its worker are two processes, as is
 * the default on a processor, each spins for a second after whatever it read from the other. On a GPU they are one.
 */
export const ON_A_PROCESSOR = {
  VLLM_CPU_KVCACHE_SPACE: '1',
  VLLM_CPU_OMP_THREADS_BIND: 'nobind',
  OMP_NUM_THREADS: '1',
  VLLM_ENABLE_V1_MULTIPROCESSING: '0',
};
