import type { Log } from '@taskmesh/service';
import kafkajs, { type Kafka } from 'kafkajs';
import type { ClientSettings } from './config.ts';
import { LIBRARY_LOG_LEVEL, libraryLog } from './logger.ts';
import { createSockets } from './sockets.ts';

export interface ClientOptions {
  brokers: string[];
  settings: ClientSettings;
  requestTimeoutMs: number;
  log: Log;
}

/** The library's client with sockets that can be cut. It tries each given broker once. */
export function createClient({ brokers, settings, requestTimeoutMs, log }: ClientOptions): {
  kafka: Kafka;
  cut: (reason: string) => void;
} {
  const sockets = createSockets();
  const kafka = new kafkajs.Kafka({
    ...settings,
    brokers,
    requestTimeout: requestTimeoutMs,
    retry: { retries: brokers.length - 1, initialRetryTime: 10, maxRetryTime: 100 },
    socketFactory: sockets.factory,
    logLevel: LIBRARY_LOG_LEVEL,
    logCreator: libraryLog(log),
  });
  return { kafka, cut: sockets.cut };
}
