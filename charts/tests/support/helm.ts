import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { CHARTS } from '../../tools/generated.ts';
import type { Manifest } from './manifest.ts';
import { provideHelm, type HelmVersion } from './programs.ts';

export type { HelmVersion };

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
/** Downloaded before the first test, so that its time limit does not include that. */
const PROGRAMS: Record<HelmVersion, string> = { 3: await provideHelm(3), 4: await provideHelm(4) };

export interface RenderOptions {
  chart?: string;
  /** A file of the chart, below its folder. */
  values?: string | undefined;
  /** More values, by their paths: any JSON. Or as a line: `a.b=c d=1`. */
  set?: Record<string, unknown> | string;
  helm?: HelmVersion;
  kubernetes?: string;
  release?: string;
  namespace?: string;
}

const valuesOf = (line: string) =>
  Object.fromEntries([...line.matchAll(/(\S+?)=(\S*)/g)].map(([, path = '', value = '']) => [path, valueOf(value)]));

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function argumentsOf(options: RenderOptions): string[] {
  const { chart = 'taskmesh', values = 'values.yaml', set = {}, kubernetes = '1.36.0' } = options;
  const { release = 'shop', namespace = 'prod' } = options;
  const folder = join(CHARTS, chart);
  const args = ['template', release, folder, '--namespace', namespace, '--kube-version', kubernetes];
  if (values !== 'values.yaml') args.push('--values', join(folder, values)); // that one is read anyway
  for (const [path, value] of Object.entries(typeof set === 'string' ? valuesOf(set) : set))
    args.push('--set-json', `${path}=${JSON.stringify(value)}`);
  return args;
}

const texts = new Map<string, Promise<string>>();
const objects = new Map<string, Promise<Manifest[]>>();

function once<Value>(made: Map<string, Promise<Value>>, options: RenderOptions, make: () => Promise<Value>) {
  const key = JSON.stringify([argumentsOf(options), options.helm]);
  const value = made.get(key) ?? make();
  made.set(key, value);
  return value;
}

/** The text of a release; the same options are rendered once. @throws Error with the message of Helm */
export const renderText = (options: RenderOptions = {}) =>
  once(texts, options, () => runHelm(argumentsOf(options), options.helm));

/** The objects of a release, which no caller changes. */
export const render = (options: RenderOptions = {}) =>
  once(objects, options, () => renderText(options).then(parseManifests));

/** The objects in a text; duplicate keys are rejected, as by a server. */
export function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    if (document.errors[0]) throw document.errors[0];
    const manifest = document.toJS() as Manifest | null;
    return manifest ? [manifest] : [];
  });
}

/** @returns what it prints. @throws Error with what it complains about */
export async function runHelm(args: string[], version: HelmVersion = 4): Promise<string> {
  const failed = ({ stdout, stderr }: { stdout: string; stderr: string }) => new Error(`${stderr}${stdout}`);
  const { stdout } = await run(PROGRAMS[version], args, { maxBuffer: MAX_OUTPUT_BYTES }).catch((error) =>
    Promise.reject(failed(error)),
  );
  return stdout;
}

/** Every values file that a chart brings, the one with defaults included. */
export function valuesFiles(chart: string): string[] {
  const folder = join(CHARTS, chart);
  const others = globSync('ci/*-values.yaml', { cwd: folder }).toSorted();
  return ['values.yaml', ...globSync('values-*.yaml', { cwd: folder }).map((file) => basename(file)), ...others];
}
