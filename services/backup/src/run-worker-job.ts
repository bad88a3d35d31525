import { flushCompileCache } from 'node:module';

/** The main function of a worker process: does one job, reports the result, and exits. */
export function runWorkerJob<Order, Told>(work: (order: Order) => Promise<Told>): void {
  flushCompileCache(); // the parent kills this process, and Node would not save the cache then
  const leave = () => process.exit();
  process.once('disconnect', leave); // the parent is gone
  // Terminals and some service managers send these to the whole process group; the parent decides what to do.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.once('message', (order: Order) => void work(order).then((told) => process.send?.(told, leave)));
}
