import { kafkaFailures } from '@taskmesh/event-log';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PlainError } from './errors.ts';
import { findFreePorts } from './ports.ts';
import { runInDataDir } from './processes/data-dir.ts';
import { findProgram, MACHINE, runProgram } from './programs.ts';
import type { Server, ServerOptions } from './server.ts';

const KAFKA_VERSION = '4.3.1';
const MIN_JAVA_VERSION = 17;

/** A small heap and a fast start. */
const JVM_OPTIONS = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

const FILES = fileURLToPath(new URL('./kafka/', import.meta.url));
const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'local-servers');

export interface KafkaServerOptions extends ServerOptions {
  /** The folder for Kafka's jars. @default `local-servers` in the user's cache folder */
  cacheDir?: string;
  /** Lines to append to `server.properties`. */
  properties?: string[];
  /** Additional arguments for `kafka.tools.StorageTool format`. */
  formatArguments?: string[];
  /** The id of the cluster to join. @default a new one */
  clusterId?: string;
  /** Additional arguments for Java. */
  jvm?: string[];
}

/**
 * Starts a single-node Kafka (KRaft, combined broker and controller) on 127.0.0.1; resolves when it responds to clients.
 * Topics survive a restart on the same `dataDir`.
 * @throws PlainError naming the remedy when Kafka is not available
 */
export async function startKafka(options: KafkaServerOptions): Promise<Server> {
  const { dataDir, log } = options;
  const kafka = await findKafka(log, options.cacheDir);
  const [free = 0, controllerPort = 0] = await findFreePorts(2);
  const port = options.port ?? free;
  const url = `127.0.0.1:${port}`;
  const prepare = () => {
    mkdirSync(dataDir, { recursive: true });
    return prepareBroker(kafka, { ...options, port, controllerPort });
  };
  // An open port is not enough: it opens seconds before the broker is ready.
  const ready = async () => (await kafkaFailures({ brokers: [url] })).length === 0 || undefined;
  const run = { name: 'Kafka', dataDir, prepare, ready };
  return { ...(await runInDataDir(run, options)), url, port };
}

async function prepareBroker(
  { java, classPath }: Kafka,
  options: KafkaServerOptions & { port: number; controllerPort: number },
) {
  const { dataDir, port, controllerPort, properties = [], formatArguments = [], jvm = [] } = options;
  const { clusterId = newClusterId() } = options;
  const configuration = join(dataDir, 'server.properties');
  writeFileSync(configuration, [template({ PORT: port, CONTROLLER_PORT: controllerPort }), ...properties].join('\n'));
  // log.dirs is relative to this folder, as paths in a properties file are read as Latin-1 and split at commas.
  const processOptions = { cwd: dataDir, env: { ...process.env, LC_ALL: 'C.UTF-8' } };
  const run = (...args: string[]) => ['-cp', [FILES, classPath].join(delimiter), ...args]; // with log4j2.xml
  const format = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', configuration, ...formatArguments];
  await formatOnce(dataDir, () => runProgram(java, ['-XX:TieredStopAtLevel=1', ...run(...format)], processOptions));
  return { command: java, args: [...JVM_OPTIONS, ...jvm, ...run('kafka.Kafka', configuration)], ...processOptions };
}

function template(values: Record<string, string | number>): string {
  const text = readFileSync(join(FILES, 'server.properties'), 'utf8');
  return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => String(values[name] ?? ''));
}

/** In the format of Kafka's own ids, without a leading hyphen. */
function newClusterId(): string {
  return `T${randomBytes(16).toString('base64url').slice(1)}`;
}

/** Prepares a new data directory. Starts over if an earlier preparation was interrupted. */
async function formatOnce(dataDir: string, format: () => Promise<unknown>): Promise<void> {
  const marker = join(dataDir, 'formatted');
  if (existsSync(marker)) return;
  rmSync(join(dataDir, 'data'), { recursive: true, force: true });
  await format();
  writeFileSync(marker, KAFKA_VERSION);
}

/** A runnable Kafka: Java and the class path of the jars. */
export type Kafka = Awaited<ReturnType<typeof findKafka>>;

/**
 * Finds or installs what Kafka needs: its jars through Maven (cached), and Java and Maven from Debian if they are missing.
 * @throws PlainError naming the remedy
 */
export async function findKafka(log: (line: string) => void, cacheDir = CACHE) {
  const libraries = join(cacheDir, `kafka-${KAFKA_VERSION}`, 'libs');
  const missing = await missingPrograms(libraries);
  if (missing.length > 0 && MACHINE.canInstall()) await MACHINE.install(missing, log);
  const java = findProgram('java');
  if (java && (missing.length === 0 || (await missingPrograms(libraries)).length === 0))
    return { java, classPath: join(await ensureJars(libraries, log), '*') };
  throw new PlainError(
    `Kafka cannot be started: Java ${MIN_JAVA_VERSION} or newer and Maven are needed. Install them ("apt-get install ` +
      'default-jre-headless maven", "brew install openjdk maven"), or use a Kafka of your own.',
  );
}

/** The Debian packages to install for missing programs. */
async function missingPrograms(libraries: string): Promise<string[]> {
  const missing = [];
  if (!((await javaVersion()) >= MIN_JAVA_VERSION)) missing.push('default-jre-headless');
  if (!existsSync(libraries) && !findProgram('mvn')) missing.push('maven');
  return missing;
}

async function javaVersion(): Promise<number> {
  const java = findProgram('java');
  if (!java) return 0;
  const text = await runProgram(java, ['-version']).catch(() => '');
  return Number(/version "(\d+)/.exec(text)?.[1] ?? 0);
}

/** Returns the folder of the jars. Downloads into another folder and renames it, so that the folder is complete or absent. */
async function ensureJars(libraries: string, log: (line: string) => void): Promise<string> {
  if (existsSync(libraries)) return libraries;
  log(`Fetching Kafka ${KAFKA_VERSION} with Maven (once, 44 MB) …`);
  mkdirSync(dirname(libraries), { recursive: true });
  const unfinished = mkdtempSync(join(dirname(libraries), 'unfinished-'));
  const copyOptions = [`-DoutputDirectory=${unfinished}`, '-DincludeScope=runtime'];
  try {
    await runProgram(findProgram('mvn') ?? 'mvn', [
      '-q',
      '-B',
      '-f',
      join(FILES, 'pom.xml'),
      'dependency:copy-dependencies',
      ...copyOptions,
    ]);
    renameSync(unfinished, libraries);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(libraries)) throw error; // otherwise another process was faster
  }
  return libraries;
}
