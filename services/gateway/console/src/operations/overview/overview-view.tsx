import { Icon } from '../../elements/icon.tsx';
import { Ago, Moment, Sentence, Time } from '../../elements/times.tsx';
import { Read, Section, View } from '../../elements/view.tsx';
import { useApi } from '../api/operators-api.ts';
import type { BackupsStatus, PlatformStatus, ServiceStatus } from '../api/types.ts';
import { usePolling } from '../use-polling.ts';
import { countOf, formatSize, formatDuration } from '../format.ts';
import { Fact, Facts, Mark } from './facts.tsx';

const EVERY_MS = 4_000;

export function OverviewView() {
  const api = useApi();
  const reading = usePolling(
    () => api.get<{ data: PlatformStatus }>('/operations/status').then(({ data }) => data),
    EVERY_MS,
  );
  return (
    <View title="Overview">
      <Read reading={reading}>
        {(status) => (
          <>
            <Problems status={status} isStale={reading.error !== undefined} />
            <ServicesCard services={status.services} />
            <div class="pair">
              <FeedCard status={status} />
              <BackupsCard backups={status.backups} />
            </div>
            <ReadersCard realtime={status.realtime} />
          </>
        )}
      </Read>
    </View>
  );
}

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

function Problems({ status: { problems, at }, isStale }: { status: PlatformStatus; isStale: boolean }) {
  const isHealthy = problems.length === 0;
  return (
    <section class={isHealthy ? 'health well' : 'health ill'} aria-label="Health">
      <div role="status">
        {isHealthy ? (
          <p class="headline">
            <Icon name="check" /> All is well
          </p>
        ) : (
          <>
            <p class="headline">
              <Icon name="warning" /> Not all is well
            </p>
            <ul>
              {problems.map((problem) => (
                <li key={problem}>
                  <Sentence text={problem} />
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
      <p class="soft">
        {isStale ? 'Cannot be reached now; this was the state at ' : 'Checked every few seconds, last at '}
        <Time at={at}>{CLOCK.format(new Date(at))}</Time>
      </p>
    </section>
  );
}

function ServicesCard({ services }: { services: ServiceStatus[] }) {
  return (
    <Section title="Services">
      <div class="pair">
        {services.map(({ name, isUp, version, startedAt, store }) => (
          <section key={name} aria-label={name}>
            <h3>{name}</h3>
            <Facts
              facts={[
                ['State', <Mark isGood={isUp}>{isUp ? 'Up' : 'Down'}</Mark>],
                ['Version', version ?? undefined],
                ['Running since', startedAt ? <Ago at={startedAt} /> : undefined],
                ['Database', store ? <Store store={store} /> : isUp ? null : undefined],
              ]}
            />
          </section>
        ))}
      </div>
    </Section>
  );
}

function Store({ store: { isUp, schema, missing, unknown } }: { store: NonNullable<ServiceStatus['store']> }) {
  if (!isUp) return <Mark isGood={false}>Does not answer</Mark>;
  if (missing.length > 0) return <Mark isGood={false}>Missing: {missing.join(', ')}</Mark>;
  if (unknown.length > 0) return <Mark isGood={false}>Newer: {unknown.join(', ')}</Mark>;
  return <Fact value={schema && <code>{schema}</code>} />;
}

const SYSTEMS = { kafka: 'Kafka', memory: 'memory' };

/** Shows how far the event log lags behind the store, and the number of dead letters. */
function FeedCard({ status: { feed, eventLog, cache } }: { status: PlatformStatus }) {
  const isLogUp = eventLog.isUpForGateway && eventLog.isUpForTasks !== false;
  const dead = feed ? feed.deadLetters.relay + feed.deadLetters.gateway : undefined;
  return (
    <Section title="Feed">
      <Facts
        facts={[
          ['Waiting to be published', feed ? countOf(feed.pending, 'change', 'changes') : undefined],
          [
            'The oldest has waited for',
            feed?.pending === 0 ? null : feed && formatDuration(feed.oldestPendingAgeSeconds),
          ],
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
            cache.system === 'memory' ? null : <Mark isGood={cache.isUp}>{cache.isUp ? 'Answers' : 'Not usable'}</Mark>,
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

function BackupsCard({ backups }: { backups: BackupsStatus | null }) {
  const archives = backups?.archives;
  return (
    <Section title="Backups">
      <Facts
        facts={[
          ['Newest', archives && ago(archives.newest)],
          ['Newest that is verified', archives && ago(archives.newestProved)],
          [
            'Kept',
            archives &&
              (archives.count === 0 ? null : (
                <a href="#/operations/backups">
                  {countOf(archives.count, 'archive', 'archives')}, {formatSize(archives.totalBytes)}
                </a>
              )),
          ],
          ['Next by schedule', backups ? next(backups) : undefined],
        ]}
      />
    </Section>
  );
}

const ago = (archive: { createdAt: string } | null) => archive && <Ago at={archive.createdAt} />;

const next = ({ schedule }: BackupsStatus) => (schedule?.nextAt ? <Moment at={schedule.nextAt} /> : null);

const PROTOCOLS: Record<string, string> = {
  'graphql-ws': 'over graphql-ws',
  sse: 'over SSE',
  multipart: 'over multipart',
  channel: 'over channels',
};

/** Shows the feed's readers at this gateway. */
function ReadersCard({ realtime }: { realtime: PlatformStatus['realtime'] }) {
  const { connections, subscriptions, owners, queueBytes } = realtime;
  return (
    <Section title="Readers at this gateway">
      <Facts
        facts={[
          ['Open connections', describeConnections(connections)],
          ['Subscriptions', countOf(subscriptions)],
          ['People whose changes are read', countOf(owners)],
          ['Waiting for slow readers', queueBytes > 0 ? formatSize(queueBytes) : null],
        ]}
      />
    </Section>
  );
}

function describeConnections(connections: Record<string, number>): string | null {
  const open = Object.entries(connections).filter(([, count]) => count > 0);
  if (open.length === 0) return null;
  return open.map(([protocol, count]) => `${count.toLocaleString('en')} ${PROTOCOLS[protocol] ?? protocol}`).join(', ');
}
