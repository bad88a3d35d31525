/** Runs `work` once nothing else runs under this name. */
export type Exclusively = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

interface Navigator {
  locks?: { request: Exclusively };
}

/** Excludes all pages of the origin where Web Locks are available, otherwise only this page. */
export const exclusively: Exclusively = async (name, work) => {
  const { navigator } = globalThis as { navigator?: Navigator };
  if (!navigator?.locks) return inTurn(name, work);
  let isGranted = false;
  try {
    return await navigator.locks.request(name, () => {
      isGranted = true;
      return work();
    });
  } catch (error) {
    if (isGranted) throw error;
    return inTurn(name, work); // sandboxed frames have Web Locks but may not use them
  }
};

const last = new Map<string, Promise<unknown>>();

function inTurn<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
  last.set(name, turn);
  const forget = () => void (last.get(name) === turn && last.delete(name));
  turn.then(forget, forget);
  return turn;
}
