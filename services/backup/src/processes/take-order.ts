import { flushCompileCache } from 'node:module';

/** In a process of its own: does the one thing that it is there for, tells what came of it, and ends. */
export function takeOrder<Order, Told>(work: (order: Order) => Promise<Told>): void {
  flushCompileCache(); // whoever wanted this ends it without a word, and Node would keep nothing for the next one
  const leave = () => process.exit();
  process.once('disconnect', leave); // whoever wanted this is gone
  // A terminal, and some service managers, send these to the whole group: whoever wanted this decides.
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);
  process.once('message', (order: Order) => void work(order).then((told) => process.send?.(told, leave)));
}
