import type { TlsFiles } from '@taskmesh/service';
import type { SASLOptions } from 'kafkajs';

/** How to reach a Kafka. Needs Kafka 2.8 or newer. */
export interface KafkaConfig {
  /** `host:port` of a few brokers; the others are learnt from them. */
  brokers: string[];
  /** Present: over TLS, with these instead of what Node trusts. */
  ssl?: TlsFiles;
  sasl?: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string };
}

export interface Address {
  host: string;
  port: number;
}

/** What every connection of ours has in common. */
export interface ClientSettings {
  clientId: string;
  connectionTimeout: number;
  authenticationTimeout: number;
  ssl?: TlsFiles;
  sasl?: SASLOptions;
}

const CONNECTION_TIMEOUT_MS = 1_000;
const AUTHENTICATION_TIMEOUT_MS = 5_000;

export function clientSettings(config: KafkaConfig, clientId: string): ClientSettings {
  return {
    clientId,
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    authenticationTimeout: AUTHENTICATION_TIMEOUT_MS,
    ...(config.ssl ? { ssl: config.ssl } : {}),
    ...(config.sasl ? { sasl: config.sasl } : {}),
  };
}

/** An IPv6 address stands in brackets. */
export function parseAddress(broker: string): Address {
  const colon = broker.lastIndexOf(':');
  return { host: broker.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(broker.slice(colon + 1)) };
}
