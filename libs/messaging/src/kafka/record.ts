import type { FetchedMessage } from 'kafkajs/src/protocol/requests/index.js';
import type { LogRecord } from '../event-log.ts';

/** A null key or value becomes an empty string; of a repeated header, the first counts. */
export function toRecord({ key, value, headers = {} }: FetchedMessage): LogRecord {
  return {
    key: key?.toString() ?? '',
    value: value?.toString() ?? '',
    headers: Object.fromEntries(Object.entries(headers).map(([name, content]) => [name, textOf(content)])),
  };
}

function textOf(content: Buffer | Buffer[]): string {
  return (Array.isArray(content) ? content[0] : content)?.toString() ?? '';
}
