/** The CPU time of this process so far. Unlike elapsed time, it hardly depends on other load on the machine. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** The least CPU time of several runs, because garbage collection and other load only add to it. */
export function leastCpuMs(runs: number, work: () => void): number {
  const costs = Array.from({ length: runs }, () => {
    const begun = cpuMs();
    work();
    return cpuMs() - begun;
  });
  return Math.min(...costs);
}
