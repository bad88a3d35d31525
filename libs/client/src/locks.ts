/** Runs `work` when nobody else runs something under that name. */
export type Exclusively = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

interface Navigator {
  locks?: { request: Exclusively };
}

/** Among all pages of an origin where there are Web Locks, within this one elsewhere. */
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
