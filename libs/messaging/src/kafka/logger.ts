import type { Log } from '@taskmesh/service';
import kafkajs, { type logCreator, type Logger } from 'kafkajs';
import { createLogger } from 'kafkajs/src/loggers/index.js';

/** What the library tells is worth a warning at most: below it everything is made into text for nothing. */
export const LIBRARY_LOG_LEVEL = kafkajs.logLevel.WARN;

/**
 * The library tells each failed try as an error. Each one reaches us as a rejected promise, too, and is told by us when it
 * matters; so its own lines are for debugging.
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
