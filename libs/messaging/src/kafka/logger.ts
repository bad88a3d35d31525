import type { Log } from '@taskmesh/service';
import kafkajs, { type logCreator, type Logger } from 'kafkajs';
import { createLogger } from 'kafkajs/src/loggers/index.js';

/** Messages below this level are not even formatted. */
export const LIBRARY_LOG_LEVEL = kafkajs.logLevel.WARN;

/**
 * The library logs each failed attempt as an error. Each one also rejects a promise, and we log it where it matters; so
 * the library's lines are for debugging only.
 */
export function libraryLog(log: Log): logCreator {
  return () =>
    ({ namespace, log: entry }) => {
      const { message, timestamp: _, logger: _name, stack: _stack, ...fields } = entry;
      log.debug({ ...fields, part: namespace }, `kafkajs: ${message}`);
    };
}

export function createLibraryLogger(log: Log): Logger {
  return createLogger({ level: LIBRARY_LOG_LEVEL, logCreator: libraryLog(log) });
}
