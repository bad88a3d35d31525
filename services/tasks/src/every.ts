/** Does `work` again and again, with a pause of `pauseMs` between; a failure is told and changes nothing. Returns what ends it. */
export function every(
  pauseMs: number,
  work: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let working: Promise<void> = Promise.resolve();
  let ended = false;

  const plan = () => {
    if (!ended) timer = setTimeout(turn, pauseMs).unref();
  };
  const turn = () => {
    working = work().catch(onError).finally(plan);
  };

  plan();
  return async () => {
    ended = true;
    clearTimeout(timer);
    await working;
  };
}
