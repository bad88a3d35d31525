import { Section } from '../../elements/view.tsx';
import type { PlatformStatus } from '../api/types.ts';
import { countOf, sizeInWords } from '../words.ts';
import { Facts } from './facts.tsx';

const PROTOCOLS: Record<string, string> = {
  'graphql-ws': 'over graphql-ws',
  sse: 'over SSE',
  multipart: 'over multipart',
  channel: 'over channels',
};

/** The readers of the feed at this gateway. */
export function ReadersCard({ realtime }: { realtime: PlatformStatus['realtime'] }) {
  const { connections, subscriptions, owners, queueBytes } = realtime;
  return (
    <Section title="Readers at this gateway">
      <Facts
        facts={[
          ['Open connections', connectionsInWords(connections)],
          ['Subscriptions', countOf(subscriptions)],
          ['People whose changes are read', countOf(owners)],
          ['Waiting for slow readers', queueBytes > 0 ? sizeInWords(queueBytes) : null],
        ]}
      />
    </Section>
  );
}

function connectionsInWords(connections: Record<string, number>): string | null {
  const open = Object.entries(connections).filter(([, count]) => count > 0);
  if (open.length === 0) return null;
  return open.map(([protocol, count]) => `${count.toLocaleString('en')} ${PROTOCOLS[protocol] ?? protocol}`).join(', ');
}
