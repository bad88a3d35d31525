/** Runs `work` once nothing else runs under this name. */
export type RunExclusively = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

interface Navigator {
  locks?: { request: RunExclusively };
}

/** Excludes all pages of the origin where Web Locks are available, otherwise only this page. */
export const runExclusively: RunExclusively = async (name, work) => {
  const { navigator } = globalThis as { navigator?: Navigator };
  if (!navigator?.locks) return runInOrder(name, work);
  let isGranted = false;
  try {
    return await navigator.locks.request(name, () => {
      isGranted = true;
      return work();
    });
  } catch (error) {
    if (isGranted) throw error;
    return runInOrder(name, work); // sandboxed frames have Web Locks but may not use them
  }
};

const last = new Map<string, Promise<unknown>>();

function runInOrder<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const result = (last.get(name) ?? Promise.resolve()).then(work, work);
  last.set(name, result);
  const forget = () => void (last.get(name) === result && last.delete(name));
  result.then(forget, forget);
  return result;
}
