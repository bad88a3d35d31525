export { describeError, PlainError } from './plain-error.ts';
export { acquireLock } from './processes/directory-lock.ts';
export { killNotedProcesses } from './processes/data-dir.ts';
export { makeRunDir, type RunDir } from './processes/run-dir.ts';
export { findFreePort, findFreePorts } from './processes/free-port.ts';
export { startChild, untilReady, type RunningProcess } from './processes/child-process.ts';
export { limitLogFile } from './processes/log-file.ts';
export type { Server } from './server.ts';
export { localUrl, portOf } from './local-url.ts';
export { databaseUrl, ensureDatabases, postgresVersion, withPostgres } from './postgres/databases.ts';
export { startPostgres, type PostgresServer } from './postgres/start-postgres.ts';
export { supervise, type Supervised } from './stack/supervise.ts';
export { startRedis } from './redis/start-redis.ts';
export { findKafka } from './kafka/kafka-jars.ts';
export { startKafka } from './kafka/start-kafka.ts';
export { checkGivenServers, provideServers } from './provide-servers.ts';
export {
  databasePrefix,
  ensureServiceDatabases,
  INNER_SERVICES,
  serviceDatabase,
  serviceDatabases,
  type InnerService,
} from './stack/inner-services.ts';
export { provideProgram } from './programs.ts';
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
