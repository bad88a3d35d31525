import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PlainError } from '../plain-error.ts';
import { hasDocker, findProgram, MACHINE, runProgram } from '../programs.ts';

export const KAFKA_VERSION = '4.3.1';
const JAVA_MIN = 17;

const POM = fileURLToPath(new URL('../../kafka/pom.xml', import.meta.url));
const CACHE = fileURLToPath(new URL(`../../../../.cache/kafka-${KAFKA_VERSION}`, import.meta.url));

/** A Kafka to run: its jars with a Java, or Docker for its image. */
export type Kafka = { java: string; classPath: string } | 'docker';

/**
 * Finds or makes what Kafka needs: jars through Maven (kept in the cache), Java and Maven from Debian where they are missing.
 * @throws PlainError naming the remedy
 */
export async function findKafka(log: (line: string) => void): Promise<Kafka> {
  const missing = await missingPrograms();
  if (missing.length > 0 && MACHINE.canInstall()) await MACHINE.install(missing, log);
  const java = findProgram('java');
  if (java && (missing.length === 0 || (await missingPrograms()).length === 0))
    return { java, classPath: join(await ensureJars(log), '*') };
  if (await hasDocker()) return 'docker';
  throw new PlainError(
    `Kafka cannot be started: Java ${JAVA_MIN} or newer and Maven are needed. Install them ("apt-get install ` +
      'default-jre-headless maven", "brew install openjdk maven"), start Docker, or set KAFKA_BROKERS to a Kafka of your own.',
  );
}

const libraries = join(CACHE, 'libs');

/** Debian's packages for what is not there. */
async function missingPrograms(): Promise<string[]> {
  const missing = [];
  if (!((await javaVersion()) >= JAVA_MIN)) missing.push('default-jre-headless');
  if (!existsSync(libraries) && !findProgram('mvn')) missing.push('maven');
  return missing;
}

async function javaVersion(): Promise<number> {
  const java = findProgram('java');
  if (!java) return 0;
  const text = await runProgram(java, ['-version']).catch(() => '');
  return Number(/version "(\d+)/.exec(text)?.[1] ?? 0);
}

/** The folder of the jars; fetched into another one and renamed, so that it is whole or not there. */
async function ensureJars(log: (line: string) => void): Promise<string> {
  if (existsSync(libraries)) return libraries;
  log(`Fetching Kafka ${KAFKA_VERSION} with Maven (once, 44 MB) …`);
  mkdirSync(dirname(libraries), { recursive: true });
  const unfinished = mkdtempSync(join(CACHE, 'unfinished-'));
  const to = [`-DoutputDirectory=${unfinished}`, '-DincludeScope=runtime'];
  try {
    await runProgram(findProgram('mvn') ?? 'mvn', ['-q', '-B', '-f', POM, 'dependency:copy-dependencies', ...to]);
    renameSync(unfinished, libraries);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(libraries)) throw error; // otherwise somebody was faster
  }
  return libraries;
}
