/** What the mutation that is tried, the session that runs its tests, and the environment of their files know of each other. */
export const session = {
  /** Absent: the code as it is. */
  mutant: undefined,
  /** The tests to run, by file and name; absent: all. */
  only: undefined,
  hitLimit: undefined,
  hitCount: 0,
  /** By test: how often it reached which mutant. */
  coverage: {},
};
