// How tests start a worker with vLLM's build for processors.

/** The interpreter of scripts/python-env.sh vllm. */
export const VLLM_PYTHON = process.env['WHETSTONE_VLLM_PYTHON'];

/** A GiB of keys and values is more than tests need; threads that are bound to cores would all want the same ones. */
export const ON_A_PROCESSOR = { VLLM_CPU_KVCACHE_SPACE: '1', VLLM_CPU_OMP_THREADS_BIND: 'nobind' };
