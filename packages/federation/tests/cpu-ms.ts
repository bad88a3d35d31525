/** The CPU time of this process so far: unlike the time of day, others on the machine hardly change it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
