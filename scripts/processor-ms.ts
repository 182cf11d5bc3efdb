/** The processor's time so far, which a busy machine does not lengthen. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
