import { openFeedLoad, type FeedLoad } from './feed-load.ts';
import type { FeedOrder, FeedReply, StretchFigures } from './messages.ts';

// A process of its own: what it takes to make changes and to read them is not part of what delivery costs.
let load: FeedLoad | undefined;

process.once('disconnect', () => process.exit(0));
process.on('message', (order: FeedOrder) => {
  obey(order).then(
    (figures) => answer({ ...(figures && { figures }) }),
    (error: unknown) => answer({ failure: error instanceof Error ? error.message : String(error) }),
  );
});

function answer(reply: FeedReply): void {
  process.send?.(reply);
}

async function obey(order: FeedOrder): Promise<StretchFigures | undefined> {
  switch (order.do) {
    case 'open':
      load = await openFeedLoad(order);
      return undefined;
    case 'run':
      if (!load) throw new Error('No socket is open.');
      return load.run(order);
    case 'close':
      await load?.close();
      load = undefined;
      return undefined;
  }
}
