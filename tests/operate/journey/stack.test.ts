import { TASK_CHANGES_TOPIC } from '@taskmesh/contracts';
import { startStack, type Stack } from '@taskmesh/local';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { createLog } from '@taskmesh/service';
import { startTraceCollector, type TraceCollector } from '@taskmesh/testing/trace-collector';
import { makeTempDir, nodeEnvironment, ownInstallation } from '@taskmesh/testing';
import { join } from 'node:path';
import { describeFeedClients } from '../../feed/feed-clients.ts';
import { describeFeedRules } from '../../feed/feed-rules.ts';
import { describeOwnAccount } from './accounts.ts';
import { describeJourney } from './journey.ts';
import { describeMetrics } from './metrics.ts';
import { describeDeadLetters, describeOperations } from './operations.ts';
import { describeRestore } from './restore.ts';
import { describeTraces, tracesTo } from './traces.ts';

describe('the stack of separate processes, two gateways, real PostgreSQL, Redis and Kafka', () => {
  const dataDir = makeTempDir();
  let stack: Stack;
  const installation = ownInstallation();
  let collector: TraceCollector;

  beforeAll(async () => {
    collector = await startTraceCollector();
    const env = {
      ...nodeEnvironment(),
      LOG_LEVEL: 'warn',
      ...installation,
      ...tracesTo(collector),
    };
    stack = await startStack({ dataDir, gateways: 2, env, log: () => {} });
  });
  afterAll(() => stack.stop(), 180_000);

  describeJourney(() => ({ urls: stack.urls }));
  describeOwnAccount(() => ({ urls: stack.urls }));
  describeFeedClients(() => ({ urls: stack.urls }));
  describeFeedRules(() => ({ urls: stack.urls }));
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
      const eventLog = createKafkaEventLog({
        brokers: brokers.split(','),
        topicPrefix,
        clientId: 'somebody-else',
        log,
      });
      await eventLog.publish(TASK_CHANGES_TOPIC, [{ key: ownerId, value: record }]);
      await eventLog.close();
    },
  }));
  describeRestore(() => ({ urls: stack.urls, backupsDir: join(dataDir, 'backups') }));
});
