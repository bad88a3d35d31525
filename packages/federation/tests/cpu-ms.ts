/** The CPU time of this process so far. Unlike elapsed time, it hardly depends on other load on the machine. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
