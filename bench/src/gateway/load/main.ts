import { quantile } from '../../figures.ts';
import { openSenders, type Sender } from './senders.ts';
import type { LoadFigures, Order, Reply } from './messages.ts';

// A process of its own: what it takes to send requests is not part of what they cost.
let senders: Sender[] = [];

process.once('disconnect', () => process.exit(0));
process.on('message', (order: Order) => {
  obey(order).then(
    (figures) => answer({ ...(figures && { figures }) }),
    (error: unknown) => answer({ failure: error instanceof Error ? error.message : String(error) }),
  );
});

function answer(reply: Reply): void {
  process.send?.(reply);
}

async function obey(order: Order): Promise<LoadFigures | undefined> {
  switch (order.do) {
    case 'open':
      senders = await openSenders(order);
      return undefined;
    case 'run':
      return run(order.seconds);
    case 'close':
      await Promise.all(senders.map((sender) => sender.close()));
      senders = [];
      return undefined;
  }
}

async function run(seconds: number): Promise<LoadFigures> {
  const start = performance.now();
  const latencies = await Promise.all(senders.map((sender) => sender.keepBusy(start + seconds * 1_000)));
  const latenciesMs = latencies.flat();
  return {
    requests: latenciesMs.length,
    seconds: (performance.now() - start) / 1_000,
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
  };
}
