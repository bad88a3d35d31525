import { createLog, explainTls, type Refusal } from '@taskmesh/service';
import { parseAddress, clientSettings, type KafkaConfig } from './config.ts';
import { createLibraryLogger } from './logger.ts';
import { createNode } from './node.ts';
import { patchIdleTimer } from './idle-timer-patch.ts';

const ANY_TOPIC = 'taskmesh';
/** What is wrong is told in one sentence. */
const LOGGER = createLibraryLogger(createLog({ service: 'kafka', level: 'silent' }));

/** Tries all brokers once, for some seconds at most; undefined when one of them answers. */
export async function whyKafkaFails(config: KafkaConfig): Promise<Refusal | undefined> {
  patchIdleTimer();
  const settings = clientSettings(config, 'taskmesh-check');
  const refusals = await Promise.all(
    config.brokers.map(async (broker) => {
      const node = createNode({ address: parseAddress(broker), settings, logger: LOGGER });
      try {
        await node.metadata(ANY_TOPIC);
        return undefined;
      } catch (error) {
        return refusalOf(error);
      } finally {
        node.close();
      }
    }),
  );
  return refusals.includes(undefined) ? undefined : (refusals.find((refusal) => refusal?.isLasting) ?? refusals[0]);
}

/** Undefined for an answer that only a working Kafka gives. Never repeats a setting's value except addresses. */
export function refusalOf(error: unknown): Refusal | undefined {
  const tls = explainTls(error, { ca: 'KAFKA_SSL_CA_FILE', cert: 'KAFKA_SSL_CERT_FILE', tls: 'KAFKA_SSL' });
  if (tls) return tls;
  const { name, message } = Error.isError(error) ? error : { name: '', message: String(error) };
  if (name === 'KafkaJSProtocolError') return undefined;
  if (name === 'KafkaJSSASLAuthenticationError') return { reason: explainLogin(message), isLasting: true };
  if (name === 'KafkaJSConnectionClosedError') return { reason: CLOSED, isLasting: false };
  return { reason: `does not answer: ${message}`, isLasting: false };
}

const CLOSED = 'closes the connection: perhaps it wants TLS or a login (KAFKA_SSL, KAFKA_SASL_MECHANISM)';

function explainLogin(message: string): string {
  return message.endsWith('mechanism is not supported by the server')
    ? 'offers no such way to log in (KAFKA_SASL_MECHANISM)'
    : 'refuses the user or the password (KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD)';
}
