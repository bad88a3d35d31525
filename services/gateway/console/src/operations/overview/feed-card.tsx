import { Section } from '../../elements/view.tsx';
import type { PlatformStatus } from '../api/types.ts';
import { countOf, spanInWords } from '../words.ts';
import { Facts } from './facts.tsx';
import { Mark } from './mark.tsx';

const SYSTEMS = { kafka: 'Kafka', memory: 'memory' };

/** How far the event log is behind the store, and the dead letters. */
export function FeedCard({ status: { feed, eventLog, cache } }: { status: PlatformStatus }) {
  const isLogUp = eventLog.isUpForGateway && eventLog.isUpForTasks !== false;
  const dead = feed ? feed.deadLetters.relay + feed.deadLetters.gateway : undefined;
  return (
    <Section title="Feed">
      <Facts
        facts={[
          ['Waiting to be published', feed ? countOf(feed.pending, 'change', 'changes') : undefined],
          ['The oldest has waited for', feed?.pending === 0 ? null : feed && spanInWords(feed.oldestPendingAgeSeconds)],
          [
            'Dead letters',
            dead === 0 ? null : dead && <a href="#/operations/dead-letters">{countOf(dead, 'letter', 'letters')}</a>,
          ],
          [
            `Event log (${SYSTEMS[eventLog.system]})`,
            <Mark isGood={isLogUp}>{isLogUp ? 'Answers' : whoMisses(eventLog)}</Mark>,
          ],
          [
            'Shared cache (Redis)',
            cache.system === 'memory' ? null : (
              <Mark isGood={cache.isUp}>{cache.isUp ? 'Answers' : 'Does not answer'}</Mark>
            ),
          ],
          ['Epoch', feed?.epoch],
        ]}
      />
    </Section>
  );
}

function whoMisses({ isUpForTasks, isUpForGateway }: PlatformStatus['eventLog']): string {
  if (isUpForGateway) return 'Not reachable by tasks';
  return isUpForTasks ? 'Not reachable by the gateway' : 'Does not answer';
}
