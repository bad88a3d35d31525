import { kafkaFailures, type KafkaConfig } from '@taskmesh/event-log';
import { z } from 'zod';
import { ConfigError, isDecodable, readAll, readEnv, refuseRemovedSettings, setting, type Env } from '../config.ts';
import { explainTls, extractTlsFiles, type Refusal } from '../tls.ts';

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
/** `host:port,…`, or in the style of PostgreSQL's multi-host URLs: `kafkas://user@host:port,…?mechanism=plain`. */
const ADDRESS = /^(?:(?<protocol>kafkas?):\/\/(?:(?<user>[^:@/?]+)@)?)?(?<brokers>[^@/?]+)(?:\?(?<parameters>.*))?$/s;
const FORM =
  'must be host:port, several between commas; with TLS or a login kafkas://user@host:port?mechanism=scram-sha-512, and the password in KAFKA_SASL_PASSWORD';

const isBroker = (value: string) => {
  const [, port] = /^(?:\[[\da-f:.]+\]|[^\s:/@[\]]+):(\d{1,5})$/i.exec(value) ?? [];
  return port !== undefined && Number(port) > 0 && Number(port) < 65_536;
};
const parse = (text: string) => {
  const { protocol, user, brokers = '', parameters = '' } = ADDRESS.exec(text)?.groups ?? {};
  const addresses = setting.list().parse(brokers);
  if (addresses.length === 0 || !addresses.every(isBroker) || !isDecodable(user ?? '')) return undefined;
  return { protocol, user: user && decodeURIComponent(user), brokers: addresses, parameters };
};

const address = () => setting.text().refine((text) => parse(text) !== undefined, FORM);

const schema = z.object({
  KAFKA_BROKERS: address().optional(),
  KAFKA_SASL_PASSWORD: setting.text().optional(),
  KAFKA_TOPIC_PREFIX: setting.topicPrefix(),
});

export type KafkaSettings = KafkaConfig & { topicPrefix: string };

/** Returns undefined when Kafka is not configured. @throws ConfigError with every problem */
export function readKafkaSettings(env: Env): KafkaSettings | undefined {
  refuseRemovedSettings(env, 'KAFKA_');
  const { KAFKA_BROKERS, KAFKA_SASL_PASSWORD: password, KAFKA_TOPIC_PREFIX: topicPrefix } = readEnv(schema, env);
  const { protocol, user, brokers, parameters } = parse(KAFKA_BROKERS ?? '') ?? { brokers: [] };
  if (brokers.length === 0) return undefined;
  const query = new URLSearchParams(parameters);
  const isTls = protocol === 'kafkas';
  const { ssl, sasl } = readAll({
    ssl: () => extractTlsFiles(query, { setting: 'KAFKA_BROKERS', missingProtocol: !isTls && 'kafkas:' }),
    sasl: () => login({ user, password, mechanism: query.get('mechanism') }),
    others: () => refuseOthers(query),
  });
  return { brokers, topicPrefix, ...(isTls && { ssl }), ...(sasl && { sasl }) };
}

/** Like `readKafkaSettings`, for services in separate processes, which need Kafka. @throws ConfigError */
export function requireKafkaSettings(env: Env): KafkaSettings {
  const kafka = readKafkaSettings(env);
  if (!kafka) throw new ConfigError(['KAFKA_BROKERS is needed: host:port, several between commas']);
  return kafka;
}

function login(options: { user?: string; password?: string; mechanism: string | null }): KafkaConfig['sasl'] {
  const { user: username, password, mechanism } = options;
  if (!username && !password && mechanism === null) return undefined;
  const known = MECHANISMS.find((each) => each === mechanism);
  if (known && username && password) return { mechanism: known, username, password };
  throw new ConfigError([
    ...(known ? [] : [`KAFKA_BROKERS must have ?mechanism=${MECHANISMS.join(', or ')} for a login`]),
    ...(username ? [] : ['KAFKA_BROKERS must name who logs in: kafkas://user@host:port']),
    ...(password ? [] : ['KAFKA_SASL_PASSWORD is needed: with a user in KAFKA_BROKERS']),
  ]);
}

function refuseOthers(query: URLSearchParams): void {
  const [unknown] = [...query.keys()].filter(
    (name) => !['mechanism', 'sslrootcert', 'sslcert', 'sslkey'].includes(name),
  );
  if (unknown !== undefined) throw new ConfigError([`KAFKA_BROKERS has no parameter ${JSON.stringify(unknown)}`]);
}

/** Tries all brokers once, for at most some seconds; returns undefined when one of them responds. */
export async function findKafkaProblem(config: KafkaConfig): Promise<Refusal | undefined> {
  const refusals = (await kafkaFailures(config)).map(refusalOf);
  return refusals.find(({ isPermanent }) => isPermanent) ?? refusals[0];
}

const TLS_NAMES = {
  ca: 'sslrootcert in KAFKA_BROKERS',
  cert: 'sslcert in KAFKA_BROKERS',
  tls: 'kafka:// or kafkas:// in KAFKA_BROKERS',
};

/** Quotes no values of settings except addresses. */
function refusalOf(error: unknown): Refusal {
  const tls = explainTls(error, TLS_NAMES);
  if (tls) return tls;
  const { name, message } = Error.isError(error) ? error : { name: '', message: String(error) };
  if (name === 'KafkaJSSASLAuthenticationError') return { reason: explainLogin(message), isPermanent: true };
  if (name === 'KafkaJSConnectionClosedError') return { reason: CLOSED, isPermanent: false };
  return { reason: `does not respond: ${message}`, isPermanent: false };
}

const CLOSED = 'closes the connection; it may require TLS or a login (kafkas:// or a user in KAFKA_BROKERS)';

function explainLogin(message: string): string {
  return message.endsWith('mechanism is not supported by the server')
    ? 'does not support this login mechanism (mechanism in KAFKA_BROKERS)'
    : 'refuses the user or the password (KAFKA_BROKERS, KAFKA_SASL_PASSWORD)';
}
