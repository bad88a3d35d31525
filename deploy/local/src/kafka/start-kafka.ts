import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { untilReady } from '../processes/child-process.ts';
import { lockDataDir } from '../processes/pid-lock.ts';
import { findFreePorts } from '../processes/free-port.ts';
import type { StopLadder } from '../processes/process-table.ts';
import { runProgram } from '../programs.ts';
import type { Server, ServerOptions } from '../server.ts';
import { brokerAnswers } from './broker-answers.ts';
import { findKafka, KAFKA_VERSION } from './kafka-jars.ts';

const LADDER: StopLadder = [['SIGTERM', 10_000]];
/** A broker that was killed reads its log anew before it opens its port. */
const START_TIMEOUT_MS = 90_000;
const JVM = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

const TEMPLATES = fileURLToPath(new URL('../../kafka/', import.meta.url));

export interface KafkaServerOptions extends ServerOptions {
  /** Lines for its properties that come after ours. Not with Docker. */
  properties?: string[];
  /** More arguments for the tool that prepares its data. Not with Docker. */
  formatArguments?: string[];
  /** Of the cluster that it belongs to. Not with Docker. @default one of its own */
  clusterId?: string;
  /** Arguments for its Java that come after ours. Not with Docker. */
  jvm?: string[];
}

/**
 * Starts a Kafka of one node (KRaft, broker and controller in one) on 127.0.0.1; resolves when it answers clients.
 * Topics survive a restart on the same `dataDir`.
 * @throws PlainError naming the remedy when there is no Kafka to be had
 */
export async function startKafka(options: KafkaServerOptions): Promise<Server> {
  const { dataDir, log, signal } = options;
  const kafka = await findKafka(log);
  const [free = 0, controllerPort = 0] = await findFreePorts(2);
  const port = options.port ?? free;
  const lock = await lockDataDir({ dataDir, ladder: LADDER, log });
  try {
    mkdirSync(dataDir, { recursive: true });
    const command =
      'docker' in kafka
        ? await inDocker(kafka.docker, dataDir, port)
        : await onJava(kafka, { ...options, port, controllerPort });
    const child = await lock.start({ ...command, cwd: dataDir });
    const url = `127.0.0.1:${port}`;
    await untilReady(child, { name: 'Kafka', ready: () => brokerAnswers(url), timeoutMs: START_TIMEOUT_MS, signal });
    return { ...child, url, port };
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function onJava(
  { java, classPath }: { java: string; classPath: string },
  options: KafkaServerOptions & { port: number; controllerPort: number },
): Promise<{ command: string; args: string[] }> {
  const { dataDir, port, controllerPort, properties = [], formatArguments = [], jvm = [] } = options;
  const { clusterId = newClusterId() } = options;
  const configuration = join(dataDir, 'server.properties');
  const values: Record<string, string> = {
    PORT: String(port),
    CONTROLLER_PORT: String(controllerPort),
    LOG_DIR: asPropertyValue(join(dataDir, 'data')),
  };
  const template = readFileSync(join(TEMPLATES, 'server.properties'), 'utf8');
  writeFileSync(
    configuration,
    [template, ...properties].join('\n').replaceAll(/\$\{(\w+)\}/g, (_, name: string) => values[name] ?? ''),
  );
  const run = (...args: string[]) => [
    `-Dlog4j2.configurationFile=${join(TEMPLATES, 'log4j2.xml')}`,
    '-cp',
    classPath,
    ...args,
  ];
  await format(dataDir, () =>
    runProgram(java, [
      '-XX:TieredStopAtLevel=1',
      ...run('kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', configuration, ...formatArguments),
    ]),
  );
  return { command: java, args: [...JVM, ...jvm, ...run('kafka.Kafka', configuration)] };
}

/** A Java properties file takes a backslash for the beginning of an escape. */
function asPropertyValue(text: string): string {
  return text.replaceAll('\\', '\\\\');
}

/** As Kafka's own ids, without a leading hyphen. */
export function newClusterId(): string {
  return `T${randomBytes(16).toString('base64url').slice(1)}`;
}

/** Prepares a new data directory; one whose preparation did not end is begun anew. */
async function format(dataDir: string, run: () => Promise<unknown>): Promise<void> {
  const done = join(dataDir, 'formatted');
  if (existsSync(done)) return;
  rmSync(join(dataDir, 'data'), { recursive: true, force: true });
  await run();
  writeFileSync(done, KAFKA_VERSION);
}

/** The image formats its own storage at its first start. */
async function inDocker(docker: string, dataDir: string, port: number): Promise<{ command: string; args: string[] }> {
  const name = `taskmesh-kafka-${port}`;
  await runProgram(docker, ['rm', '-f', name]);
  const data = join(dataDir, 'docker');
  mkdirSync(data, { recursive: true });
  chmodSync(data, 0o777); // the image's own user writes there
  const settings = {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_LISTENERS: `PLAINTEXT://0.0.0.0:${port},CONTROLLER://127.0.0.1:9093`,
    KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@127.0.0.1:9093',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    KAFKA_LOG_DIRS: '/var/lib/kafka/data',
  };
  const variables = Object.entries(settings).flatMap(([key, value]) => ['-e', `${key}=${value}`]);
  const args = ['run', '--rm', '--name', name, '-p', `127.0.0.1:${port}:${port}`, '-v', `${data}:/var/lib/kafka/data`];
  return { command: docker, args: [...args, ...variables, `apache/kafka:${KAFKA_VERSION}`] };
}
