import { createMemoryKeyValue } from '@taskmesh/key-value';
import { createMemoryEventLog } from '@taskmesh/event-log';
import { createLog, systemClock } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { connectInProcess } from '../../src/connections/in-process.ts';
import { readGatewayConfig } from '../../src/config.ts';
import { createGateway } from '../../src/create-gateway.ts';
import { createFakeAuth, type FakeAuth } from './auth.ts';
import { createFakeTasks, type FakeTasks } from './tasks.ts';
import { createFakeBackupWork, type FakeBackupWork } from '../fakes/backup-work.ts';
import { createFakeOperators } from '../fakes/operators.ts';
import { createFakeSubgraph } from '../fakes/fake-subgraph.ts';

export interface RestApp {
  origin: string;
  auth: FakeAuth;
  tasks: FakeTasks;
  backups: FakeBackupWork;
  /** The log, parsed. */
  logged: Record<string, unknown>[];
  stop(): Promise<void>;
}

/** A whole gateway on the real graph, with services in memory. */
export async function startRestApp(env: Record<string, string> = {}, { waitUntilReady = true } = {}): Promise<RestApp> {
  const logged: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>) };
  const log = createLog({ service: 'test', level: 'debug', destination });
  const auth = await createFakeAuth(log);
  const tasks = createFakeTasks(log);
  const backups = createFakeBackupWork();
  const keyValue = createMemoryKeyValue();
  const eventLog = createMemoryEventLog();
  const operators = createFakeOperators();
  const connections = connectInProcess({
    auth: { ...auth, operators: operators.auth },
    tasks: { ...tasks, operators: operators.tasks, deadLetters: operators.deadLetters },
    backup: {
      subgraph: createFakeSubgraph('backup', backups.resolvers, log),
      work: backups.work,
      operators: operators.backup,
    },
  });
  const config = readGatewayConfig({ PORT: '0', ...env });
  const gateway = await createGateway(config, { clock: systemClock, log, keyValue, eventLog, connections });
  await gateway.start();
  if (waitUntilReady) await eventually(() => expect(gateway.ready()).toMatchObject({ ok: true }));
  const stop = async () => {
    await gateway.stop();
    await connections.close();
    await eventLog.close();
    await keyValue.close();
  };
  return { origin: gateway.address(), auth, tasks, backups, logged, stop };
}
