import { Section } from '../../elements/view.tsx';
import type { PlatformStatus } from '../api/types.ts';
import { countOf, spanInWords } from '../words.ts';
import { Facts } from './facts.tsx';
import { Mark } from './mark.tsx';

const SYSTEMS = { kafka: 'Kafka', memory: 'memory' };

/** How far the event log is behind the store, and the dead letters. */
export function FeedCard({ status: { feed, eventLog, cache } }: { status: PlatformStatus }) {
  const isLogUp = eventLog.isUpForGateway && eventLog.isUpForTasks !== false;
  const dead = feed ? feed.deadLetters.relay + feed.deadLetters.gateway : 0;
  return (
    <Section title="Feed">
      <Facts
        facts={[
          ['Waiting to be published', feed ? countOf(feed.pending, 'change', 'changes') : 'not known'],
          [
            'The oldest has waited for',
            feed ? (feed.pending === 0 ? '–' : spanInWords(feed.oldestPendingAgeSeconds)) : 'not known',
          ],
          [
            'Dead letters',
            feed ? <a href="#/operations/dead-letters">{countOf(dead, 'letter', 'letters')}</a> : 'not known',
          ],
          [
            `Event log (${SYSTEMS[eventLog.system]})`,
            <Mark isGood={isLogUp}>{isLogUp ? 'Answers' : whoMisses(eventLog)}</Mark>,
          ],
          [
            'Shared cache (Redis)',
            cache.system === 'memory' ? (
              'not used'
            ) : (
              <Mark isGood={cache.isUp}>{cache.isUp ? 'Answers' : 'Does not answer'}</Mark>
            ),
          ],
          ['Epoch', feed?.epoch ?? 'not known'],
        ]}
      />
    </Section>
  );
}

function whoMisses({ isUpForTasks, isUpForGateway }: PlatformStatus['eventLog']): string {
  if (isUpForGateway) return 'Not reachable by tasks';
  return isUpForTasks ? 'Not reachable by the gateway' : 'Does not answer';
}
