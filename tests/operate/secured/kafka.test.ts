import { findFreePorts, startKafka } from '@taskmesh/local';
import { createKafkaEventLog } from '@taskmesh/event-log';
import { readKafkaSettings, findKafkaProblem } from '@taskmesh/service/event-log';
import { createLog } from '@taskmesh/service';
import { atEnd, eventually } from '@taskmesh/testing';
import { createAuthority } from '@taskmesh/testing/certificates';
import { randomUUID } from 'node:crypto';
import { temporaryFiles } from './temporary-files.ts';

const PASSWORD = 'kept-to-itself';
const files = temporaryFiles();
const log = createLog({ service: 'test', level: 'silent' });
/** Ports by the protocol of the listener. */
const ports = { SSL: 0, SASL_SSL: 0, SASL_PLAINTEXT: 0 };

const authority = await createAuthority();
const issued = [authority.issue(), authority.issue('taskmesh'), createAuthority()] as const;
const [server, client, stranger] = await Promise.all(issued);
const ca = files.write('ca.pem', authority.ca);
const trusted = `sslrootcert=${ca}`;
const identified = `sslcert=${files.write('client.crt', client.cert)}&sslkey=${files.write('client.key', client.key)}`;
const strangersCa = files.write('stranger.pem', stranger.ca);
// All in one call, so that they are distinct.
const [ssl = 0, saslSsl = 0, saslPlaintext = 0, port = 0, controllerPort = 0] = await findFreePorts(5);
Object.assign(ports, { SSL: ssl, SASL_SSL: saslSsl, SASL_PLAINTEXT: saslPlaintext });
const listeners = Object.entries(ports).map(([name, port]) => `${name}://127.0.0.1:${port}`);
const loginModule = (mechanism: string, module: string, options = '') =>
  ['sasl_ssl', 'sasl_plaintext'].map(
    (listener) =>
      `listener.name.${listener}.${mechanism}.sasl.jaas.config=org.apache.kafka.common.security.${module} required ${options};`,
  );
const kafka = await startKafka({
  dataDir: files.path('kafka'),
  port,
  log: () => undefined,
  formatArguments: ['SHA-256', 'SHA-512'].flatMap((hash) => [
    ...['--add-scram', `SCRAM-${hash}=[name=taskmesh,password=${PASSWORD}]`],
  ]),
  properties: [
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort},${listeners.join()}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port},${listeners.join()}`,
    `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
    `listener.security.protocol.map=${['PLAINTEXT', ...Object.keys(ports)].map((name) => `${name}:${name}`).join()},CONTROLLER:PLAINTEXT`,
    'sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
    ...loginModule('plain', 'plain.PlainLoginModule', `user_taskmesh="${PASSWORD}"`),
    ...['256', '512'].flatMap((bits) => loginModule(`scram-sha-${bits}`, 'scram.ScramLoginModule')),
    'ssl.keystore.type=PEM',
    `ssl.keystore.location=${files.write('server.pem', server.key + server.cert)}`,
    'ssl.truststore.type=PEM',
    `ssl.truststore.location=${ca}`,
    'listener.name.ssl.ssl.client.auth=required',
  ],
});
afterAll(() => kafka?.stop());

type Listener = keyof typeof ports | 'PLAINTEXT';
/** Returns the settings for a listener, with the parameters of the address. */
const settingsOf = (listener: Listener, { protocol = 'kafkas', parameters = '', password = '' }) => {
  const host = `127.0.0.1:${listener === 'PLAINTEXT' ? kafka.port : ports[listener]}`;
  const KAFKA_BROKERS = `${protocol}://${password && 'taskmesh@'}${host}?${parameters}`;
  const settings = readKafkaSettings({ KAFKA_BROKERS, KAFKA_SASL_PASSWORD: password });
  if (!settings) throw new Error('no settings');
  return settings;
};
type Way = Parameters<typeof settingsOf>[1];
const login = (mechanism: string, more = '', password = PASSWORD) => ({
  ...{ password, parameters: `mechanism=${mechanism}&${more}` },
});

describe('a Kafka that requires TLS or a login', () => {
  it.each<[string, Listener, () => Way]>([
    ['a certificate of ours', 'SSL', () => ({ parameters: `${trusted}&${identified}` })],
    ['a password over TLS', 'SASL_SSL', () => login('plain', trusted)],
    ['SCRAM over TLS', 'SASL_SSL', () => login('scram-sha-512', trusted)],
    ['SCRAM without TLS', 'SASL_PLAINTEXT', () => ({ ...login('scram-sha-256'), protocol: 'kafka' })],
  ])('can be written and read with %s', async (_, listener, way) => {
    const settings = settingsOf(listener, way());
    expect(await findKafkaProblem(settings)).toBeUndefined();
    const eventLog = createKafkaEventLog({ ...settings, clientId: 'test', log });
    atEnd(() => eventLog.close());
    const topic = `secured-${randomUUID()}`;
    const seen: string[] = [];
    await eventLog.ensureTopic(topic, { partitions: 2 });
    await eventLog.read(topic, ({ value }) => seen.push(value)).ready();
    await eventLog.publish(topic, [{ key: 'k', value: 'over a guarded line' }]);
    await eventually(() => expect(seen).toEqual(['over a guarded line']));
  });

  const UNTRUSTED = /not trusted \(sslrootcert in KAFKA_BROKERS\)/;
  const GUESS = 'a-secret-guess';
  const plainly = (way: Way): Way => ({ ...way, protocol: 'kafka' });
  it.each<[string, Listener, () => Way, RegExp]>([
    ['its certificate is untrusted', 'SASL_SSL', () => login('plain'), UNTRUSTED],
    ['a stranger vouches for it', 'SASL_SSL', () => login('plain', `sslrootcert=${strangersCa}`), UNTRUSTED],
    ['we show no certificate', 'SSL', () => ({ parameters: trusted }), /sslcert in KAFKA_BROKERS/],
    ['the password is wrong', 'SASL_SSL', () => login('plain', trusted, GUESS), /KAFKA_SASL_PASSWORD/],
    ['there is no login', 'SASL_PLAINTEXT', () => plainly({}), /closes the connection.*a user in KAFKA_BROKERS/],
    ['it is spoken to without TLS', 'SASL_SSL', () => plainly(login('plain')), /closes the connection.*kafkas:/],
    ['it speaks no TLS itself', 'PLAINTEXT', () => ({ parameters: trusted }), /kafkas:.* in KAFKA_BROKERS/],
  ])('is reported with the setting, and without secrets, when %s', async (_, listener, way, reason) => {
    const refusal = await findKafkaProblem(settingsOf(listener, way()));
    expect(refusal?.reason).toMatch(reason);
    expect(refusal?.reason).not.toMatch(/secret|kept-to-itself/);
  });
});

it.each([
  ['k1', 'must be host:port'],
  ['kafkas://me:secret@k1:9092', 'must be host:port'],
  ['kafka://k1:9092?sslrootcert=/none.pem', 'must start with kafkas:// where it has sslrootcert'],
  ['kafkas://k1:9092?sslrootcert=/none.pem', 'must name a readable PEM file'],
  ['kafkas://me@k1:9092', 'must have ?mechanism=plain, or scram-sha-256'],
  ['kafkas://me@k1:9092?mechanism=plain', 'KAFKA_SASL_PASSWORD is needed'],
  ['kafkas://k1:9092?mechanism=plain', 'must name who logs in'],
  ['kafkas://k1:9092?ssl=true', 'has no parameter "ssl"'],
])('an address of Kafka is refused: %s', (KAFKA_BROKERS, problem) => {
  const read = () => readKafkaSettings({ KAFKA_BROKERS });
  expect(read).toThrow(problem);
  expect(read).not.toThrow('secret');
});
