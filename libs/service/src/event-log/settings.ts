import { readFileSync } from 'node:fs';
import type { KafkaConfig } from '@taskmesh/event-log';
import { z } from 'zod';
import { ConfigError, readAll, readEnv, setting, type Env } from '../config.ts';
import { readTlsFiles } from '../tls.ts';

const broker = z.string().refine((value) => {
  const [, port] = /^(?:\[[\da-f:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/i.exec(value) ?? [];
  return port !== undefined && Number(port) > 0 && Number(port) < 65_536;
}, 'must be host:port, several between commas');

const schema = z.object({
  KAFKA_BROKERS: setting.list().pipe(z.array(broker).min(1, 'must be host:port, several between commas')).optional(),
  KAFKA_TOPIC_PREFIX: setting.topicPrefix(),
  KAFKA_SSL: setting.flag().default(false),
  KAFKA_SASL_MECHANISM: setting.oneOf(['plain', 'scram-sha-256', 'scram-sha-512']).optional(),
  KAFKA_SASL_USERNAME: setting.text().optional(),
  KAFKA_SASL_PASSWORD: setting.text().optional(),
  KAFKA_SASL_PASSWORD_FILE: setting.text().optional(),
});

const TLS_FILES = { ca: 'KAFKA_SSL_CA_FILE', cert: 'KAFKA_SSL_CERT_FILE', key: 'KAFKA_SSL_KEY_FILE' } as const;

export type KafkaSettings = KafkaConfig & { topicPrefix: string };

/** @throws ConfigError with every problem */
export function readKafkaSettings(env: Env): KafkaSettings | undefined {
  const { values, tls, sasl } = readAll({
    values: () => readEnv(schema, env),
    tls: () => readTlsFiles(env, TLS_FILES),
    sasl: () => readSasl(env),
    switched: () => checkSwitch(env),
  });
  if (!values.KAFKA_BROKERS) return undefined;
  return {
    brokers: values.KAFKA_BROKERS,
    topicPrefix: values.KAFKA_TOPIC_PREFIX,
    ...(values.KAFKA_SSL && { ssl: tls }),
    ...(sasl && { sasl }),
  };
}

/** Ignoring a file that says whom to trust would mean unencrypted records. */
function checkSwitch(env: Env): void {
  const named = Object.values(TLS_FILES).filter((name) => env[name]);
  if (named.length > 0 && !env.KAFKA_SSL)
    throw new ConfigError([`${named.join(', ')}: KAFKA_SSL says whether TLS is used; it is needed, too`]);
}

function readSasl(env: Env): KafkaConfig['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username } = env;
  const { KAFKA_SASL_PASSWORD: inPlace, KAFKA_SASL_PASSWORD_FILE: file } = env;
  if (!mechanism && !username && !inPlace && !file) return undefined;
  const problems = [
    ...(mechanism ? [] : ['KAFKA_SASL_MECHANISM is needed: plain, scram-sha-256 or scram-sha-512']),
    ...(username ? [] : ['KAFKA_SASL_USERNAME is needed: who logs in to Kafka']),
    ...(inPlace || file ? [] : ['KAFKA_SASL_PASSWORD or KAFKA_SASL_PASSWORD_FILE is needed']),
    ...(inPlace && file
      ? ['KAFKA_SASL_PASSWORD and KAFKA_SASL_PASSWORD_FILE are both set: one of them is enough']
      : []),
  ];
  let password = inPlace ?? '';
  if (file) {
    try {
      password = readFileSync(file, 'utf8').trimEnd();
    } catch {
      problems.push(`KAFKA_SASL_PASSWORD_FILE must name a readable file (is: ${JSON.stringify(file)})`);
    }
  }
  if (problems.length > 0 || !username) throw new ConfigError(problems);
  return { mechanism, username, password } as KafkaConfig['sasl']; // the schema has checked the mechanism
}
