import { kafkaFailures, type KafkaConfig } from '@taskmesh/event-log';
import { explainTls, type Refusal } from '../tls.ts';

/** Tries all brokers once, for some seconds at most; undefined when one of them answers. */
export async function whyKafkaFails(config: KafkaConfig): Promise<Refusal | undefined> {
  const refusals = (await kafkaFailures(config)).map(refusalOf);
  return refusals.find(({ isLasting }) => isLasting) ?? refusals[0];
}

const TLS_NAMES = {
  ca: 'sslrootcert in KAFKA_BROKERS',
  cert: 'sslcert in KAFKA_BROKERS',
  tls: 'kafka:// or kafkas:// in KAFKA_BROKERS',
};

/** Never repeats a setting's value except addresses. */
function refusalOf(error: unknown): Refusal {
  const tls = explainTls(error, TLS_NAMES);
  if (tls) return tls;
  const { name, message } = Error.isError(error) ? error : { name: '', message: String(error) };
  if (name === 'KafkaJSSASLAuthenticationError') return { reason: explainLogin(message), isLasting: true };
  if (name === 'KafkaJSConnectionClosedError') return { reason: CLOSED, isLasting: false };
  return { reason: `does not answer: ${message}`, isLasting: false };
}

const CLOSED = 'closes the connection: perhaps it wants TLS or a login (kafkas:// or a user in KAFKA_BROKERS)';

function explainLogin(message: string): string {
  return message.endsWith('mechanism is not supported by the server')
    ? 'offers no such way to log in (mechanism in KAFKA_BROKERS)'
    : 'refuses the user or the password (KAFKA_BROKERS, KAFKA_SASL_PASSWORD)';
}
