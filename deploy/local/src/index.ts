export {
  acquireLock,
  describeError,
  findFreePort,
  findFreePorts,
  killNotedProcesses,
  limitLogFile,
  makeRunDir,
  PlainError,
  provideProgram,
  startChild,
  startPostgres,
  startRedis,
  untilReady,
  type PostgresServer,
  type RunDir,
  type RunningProcess,
  type Server,
} from '@taskmesh/local-servers';
export { localUrl, portOf } from './local-url.ts';
export { databaseUrl, ensureDatabases, postgresVersion, withPostgres } from './databases.ts';
export { supervise, type Supervised } from './stack/supervise.ts';
export { checkGivenServers, findKafka, provideServers, startKafka } from './provide-servers.ts';
export {
  databasePrefix,
  ensureServiceDatabases,
  INNER_SERVICES,
  serviceDatabase,
  serviceDatabases,
  type InnerService,
} from './stack/inner-services.ts';
export { serviceReady } from './stack/service-processes.ts';
export { startStack, type Stack } from './stack/start-stack.ts';
export type { StackProcess } from './stack/stack.ts';
export { checkWantedPorts } from './stack/ports.ts';
export { DEMO_ACCOUNT, seed } from './seed/seed.ts';
export { firstSteps } from './command/first-steps.ts';
export { operatorsAddress } from './command/operators-address.ts';
export { ensureMachineToken, type MachineToken } from './machine-token.ts';
export { number, parseOptions } from './command/arguments.ts';
export { runCommand, say, UsageError } from './command/run-command.ts';
