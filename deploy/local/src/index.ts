export {
  acquireLock,
  describeError,
  findFreePort,
  findFreePorts,
  killNotedProcesses,
  limitLogFile,
  makeRunDir,
  PlainError,
  postgresVersion,
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
export { databaseUrl, ensureDatabases, withPostgres } from './databases.ts';
export { supervise, type Supervised } from './stack/supervise.ts';
export { checkGivenServers, findKafka, provideServers, startKafka } from './provide-servers.ts';
export * from './stack/inner-services.ts';
export { serviceReady } from './stack/service-processes.ts';
export { startStack, type Stack } from './stack/start-stack.ts';
export type { StackProcess } from './stack/stack.ts';
export { checkWantedPorts, localUrl, portOf } from './stack/ports.ts';
export { DEMO_ACCOUNT, seed } from './seed/seed.ts';
export { ensureMachineToken, operatorsAddress, type MachineToken } from './machine-token.ts';
export { firstSteps, number, parseOptions, runCommand, say, UsageError } from './command.ts';
