/** Runs `work` once nothing else runs under this name. */
export type Exclusively = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

interface Navigator {
  locks?: { request: Exclusively };
}

/** With Web Locks, among all pages of the origin; without them, within this page. */
export const exclusively: Exclusively = (name, work) => {
  const { navigator } = globalThis as { navigator?: Navigator };
  return navigator?.locks ? navigator.locks.request(name, work) : inTurn(name, work);
};

const last = new Map<string, Promise<unknown>>();

function inTurn<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
  last.set(name, turn);
  return turn;
}
