import { findFreePorts, startKafka, type Server } from '@taskmesh/local';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { readKafkaSettings, whyKafkaFails } from '@taskmesh/service/event-log';
import { createLog } from '@taskmesh/service';
import { eventually } from '@taskmesh/testing';
import { createAuthority } from '@taskmesh/testing/certificates';
import { randomUUID } from 'node:crypto';
import { temporaryFiles } from './temporary-files.ts';

const PASSWORD = 'kept-to-itself';
const USER = { KAFKA_SASL_USERNAME: 'taskmesh', KAFKA_SASL_PASSWORD: PASSWORD };
const files = temporaryFiles('kafka');
const log = createLog({ service: 'test', level: 'silent' });
/** By what a listener asks for. */
const ports = { SSL: 0, SASL_SSL: 0, SASL_PLAINTEXT: 0 };
let kafka: Server;
let trusted: { KAFKA_SSL: string; KAFKA_SSL_CA_FILE: string };
let identified: { KAFKA_SSL_CERT_FILE: string; KAFKA_SSL_KEY_FILE: string };
let strangersCa: string;

beforeAll(async () => {
  const authority = await createAuthority();
  const [server, client, stranger] = await Promise.all([
    authority.issue(),
    authority.issue('taskmesh'),
    createAuthority(),
  ]);
  trusted = { KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: files.write('ca.pem', authority.ca) };
  identified = {
    KAFKA_SSL_CERT_FILE: files.write('client.crt', client.cert),
    KAFKA_SSL_KEY_FILE: files.write('client.key', client.key),
  };
  strangersCa = files.write('stranger.pem', stranger.ca);
  // All at once: no two of them are the same.
  const [ssl = 0, saslSsl = 0, saslPlaintext = 0, port = 0, controllerPort = 0] = await findFreePorts(5);
  Object.assign(ports, { SSL: ssl, SASL_SSL: saslSsl, SASL_PLAINTEXT: saslPlaintext });
  const listeners = Object.entries(ports).map(([name, port]) => `${name}://127.0.0.1:${port}`);
  const login = (mechanism: string, module: string, options = '') =>
    ['sasl_ssl', 'sasl_plaintext'].map(
      (listener) =>
        `listener.name.${listener}.${mechanism}.sasl.jaas.config=org.apache.kafka.common.security.${module} required ${options};`,
    );
  kafka = await startKafka({
    dataDir: files.path('kafka'),
    port,
    log: () => undefined,
    formatArguments: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=taskmesh,password=${PASSWORD}]`,
    ]),
    properties: [
      `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort},${listeners.join()}`,
      `advertised.listeners=PLAINTEXT://127.0.0.1:${port},${listeners.join()}`,
      `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
      `listener.security.protocol.map=${['PLAINTEXT', ...Object.keys(ports)].map((name) => `${name}:${name}`).join()},CONTROLLER:PLAINTEXT`,
      'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
      ...login('plain', 'plain.PlainLoginModule', `user_taskmesh="${PASSWORD}"`),
      ...login('scram-sha-256', 'scram.ScramLoginModule'),
      ...login('scram-sha-512', 'scram.ScramLoginModule'),
      'ssl.keystore.type=PEM',
      `ssl.keystore.location=${files.write('server.pem', server.key + server.cert)}`,
      'ssl.truststore.type=PEM',
      `ssl.truststore.location=${trusted.KAFKA_SSL_CA_FILE}`,
      'listener.name.ssl.ssl.client.auth=required',
    ],
  });
}, 120_000);
afterAll(async () => {
  await kafka?.stop();
  files.remove();
});

const settingsOf = (listener: keyof typeof ports | 'PLAINTEXT', env: Record<string, string>) => {
  const port = listener === 'PLAINTEXT' ? kafka.port : ports[listener];
  const settings = readKafkaSettings({ KAFKA_BROKERS: `127.0.0.1:${port}`, ...env });
  if (!settings) throw new Error('no settings');
  return settings;
};

describe('a Kafka that wants TLS or a login', () => {
  it.each<[string, keyof typeof ports, () => Record<string, string>]>([
    ['a certificate of ours', 'SSL', () => ({ ...trusted, ...identified })],
    ['a password over TLS', 'SASL_SSL', () => ({ ...trusted, ...USER, KAFKA_SASL_MECHANISM: 'plain' })],
    ['SCRAM over TLS', 'SASL_SSL', () => ({ ...trusted, ...USER, KAFKA_SASL_MECHANISM: 'scram-sha-512' })],
    ['SCRAM without TLS', 'SASL_PLAINTEXT', () => ({ ...USER, KAFKA_SASL_MECHANISM: 'scram-sha-256' })],
    [
      'a password in a file',
      'SASL_PLAINTEXT',
      () => ({
        KAFKA_SASL_MECHANISM: 'plain',
        KAFKA_SASL_USERNAME: 'taskmesh',
        KAFKA_SASL_PASSWORD_FILE: files.write('password', `${PASSWORD}\n`),
      }),
    ],
  ])('is published to and read with %s', async (_, listener, env) => {
    const settings = settingsOf(listener, env());
    expect(await whyKafkaFails(settings)).toBeUndefined();
    const eventLog = createKafkaEventLog({ ...settings, clientId: 'test', log });
    try {
      const topic = `secured-${randomUUID()}`;
      const seen: string[] = [];
      await eventLog.ensureTopic(topic, { partitions: 2 });
      await eventLog.read(topic, ({ value }) => seen.push(value)).ready();
      await eventLog.publish(topic, [{ key: 'k', value: 'over a guarded line' }]);
      await eventually(() => expect(seen).toEqual(['over a guarded line']));
    } finally {
      await eventLog.close();
    }
  });

  const plain = { KAFKA_SASL_MECHANISM: 'plain' };
  it.each<[string, keyof typeof ports | 'PLAINTEXT', () => Record<string, string>, RegExp]>([
    [
      'nobody vouches for it',
      'SASL_SSL',
      () => ({ KAFKA_SSL: 'true', ...USER, ...plain }),
      /not trusted \(KAFKA_SSL_CA_FILE\)/,
    ],
    [
      'a stranger vouches for it',
      'SASL_SSL',
      () => ({ ...trusted, KAFKA_SSL_CA_FILE: strangersCa, ...USER, ...plain }),
      /not trusted \(KAFKA_SSL_CA_FILE\)/,
    ],
    ['we show no certificate', 'SSL', () => trusted, /KAFKA_SSL_CERT_FILE/],
    [
      'the password is wrong',
      'SASL_SSL',
      () => ({ ...trusted, ...USER, ...plain, KAFKA_SASL_PASSWORD: 'a-secret-guess' }),
      /KAFKA_SASL_PASSWORD/,
    ],
    [
      'the password for SCRAM is wrong',
      'SASL_PLAINTEXT',
      () => ({ ...USER, KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_PASSWORD: 'a-secret-guess' }),
      /KAFKA_SASL_PASSWORD/,
    ],
    ['nobody logs in', 'SASL_PLAINTEXT', () => ({}), /closes the connection.*KAFKA_SASL_MECHANISM/],
    ['it is spoken to without TLS', 'SASL_SSL', () => ({ ...USER, ...plain }), /closes the connection.*KAFKA_SSL/],
    ['it speaks no TLS itself', 'PLAINTEXT', () => trusted, /KAFKA_SSL/],
  ])('is told of by the setting, and by no secret, when %s', async (_, listener, env, reason) => {
    const refusal = await whyKafkaFails(settingsOf(listener, env()));
    expect(refusal?.reason).toMatch(reason);
    expect(refusal?.reason).not.toMatch(/secret|kept-to-itself/);
  });
});
