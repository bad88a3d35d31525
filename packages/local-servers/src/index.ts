export { allOf, describeError, attempt, indent, PlainError } from './errors.ts';
export { writeJson, writeAtomically } from './files.ts';
export { findFreePort, findFreePorts, findPortError } from './ports.ts';
export { acquireLock } from './processes/directory-lock.ts';
export {
  endRecordedProcesses,
  killRecordedProcesses,
  makeRunDir,
  runInDataDir,
  StillRunning,
  type RunDir,
} from './processes/data-dir.ts';
export { describeExit, limitLogFile, startChild, untilReady, type RunningProcess } from './processes/child-process.ts';
export { isAlive } from './processes/process-table.ts';
export { provideProgram } from './programs.ts';
export type { Server, ServerOptions } from './server.ts';
export { findPostgres } from './postgres/binaries.ts';
export { postgresVersion, startPostgres, type PostgresServer } from './postgres/start-postgres.ts';
export { startRedis } from './redis.ts';
export { findKafka, startKafka, type KafkaServerOptions } from './kafka.ts';
