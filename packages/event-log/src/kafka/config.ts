import type { SASLOptions } from 'kafkajs';

/** PEM texts in the format of Node's TLS options. */
export interface TlsFiles {
  /** Trusted certificate authorities, instead of Node's. */
  ca?: string;
  cert?: string;
  key?: string;
}

/** Requires Kafka 2.8 or newer. */
export interface KafkaConfig {
  /** `host:port` of some brokers; the others are discovered through them. */
  brokers: string[];
  /** If present, connects over TLS. `ca` replaces Node's trusted certificates. */
  ssl?: TlsFiles;
  sasl?: { mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string };
}

export interface Address {
  host: string;
  port: number;
}

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

/** Splits `host:port`. IPv6 addresses are in brackets. */
export function parseAddress(broker: string): Address {
  const colon = broker.lastIndexOf(':');
  return { host: broker.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(broker.slice(colon + 1)) };
}
