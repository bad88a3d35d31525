import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { startStack, type Stack } from '@taskmesh/local';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { startTraceCollector, type TraceCollector } from '@taskmesh/testing/trace-collector';
import { makeTempDir, nodeEnvironment, ownInstallation } from '@taskmesh/testing';
import { join } from 'node:path';
import { describeContract } from './all.ts';
import { platformOf, PUBLIC_URL } from './platform-for-tests.ts';
import { describeFeedClients } from '../feed/feed-clients.ts';
import { describeJourney } from '../operate/journey/journey.ts';
import { describeMetrics } from '../operate/journey/metrics.ts';
import { describeDeadLetters, describeOperations } from '../operate/journey/operations.ts';
import { describeRestore } from '../operate/journey/restore.ts';
import { describeTraces, tracesTo } from '../operate/journey/traces.ts';

describe('the stack of separate processes, two gateways, real PostgreSQL, Redis and Kafka', () => {
  const dataDir = makeTempDir();
  let stack: Stack;
  const installation = ownInstallation();
  let collector: TraceCollector;

  beforeAll(async () => {
    collector = await startTraceCollector();
    const env = { ...nodeEnvironment(), LOG_LEVEL: 'warn', PUBLIC_URL, ...installation, ...tracesTo(collector) };
    stack = await startStack({ dataDir, gateways: 2, env, log: () => {} });
  });
  afterAll(() => stack.stop(), 180_000);

  describe('keeps the contract:', () => {
    describeContract(platformOf('stack', () => ({ url: stack.urls[0] ?? '', urls: stack.urls, dataDir })));
  });
  describeJourney(() => ({ urls: stack.urls }));
  describeFeedClients(() => ({ urls: stack.urls }));
  describeMetrics(() => ({
    adminUrls: [...stack.processes.values()].flatMap(({ current: { adminUrl } }) => adminUrl ?? []),
  }));
  describeTraces(() => ({ urls: stack.urls, collector, isSplit: true }));
  describeOperations(() => ({ urls: stack.urls, dataDir, eventLog: 'kafka' }));
  describeDeadLetters(() => ({
    urls: stack.urls,
    async spoil(ownerId, record) {
      const { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: topicPrefix } = installation;
      const log = createLog({ service: 'test', level: 'silent' });
      const clientId = 'somebody-else';
      const eventLog = createKafkaEventLog({ brokers: brokers.split(','), topicPrefix, clientId, log });
      await eventLog.publish(TASK_CHANGES_TOPIC, [{ key: ownerId, value: record }]);
      await eventLog.close();
    },
  }));
  describeRestore(() => ({ urls: stack.urls, backupsDir: join(dataDir, 'backups') }));
});
