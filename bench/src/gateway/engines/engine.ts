import type { TargetOptions } from '../../targets/target.ts';

export const ENGINES = ['taskmesh', 'taskmesh-image', 'apollo', 'apollo-undici', 'hive'] as const;

export type EngineName = (typeof ENGINES)[number];

export const TITLES: Record<EngineName, string> = {
  taskmesh: 'Taskmesh',
  'taskmesh-image': 'Taskmesh, as in an image',
  apollo: 'Apollo Server + @apollo/gateway',
  'apollo-undici': 'the same, fetching by undici',
  hive: 'Hive gateway-runtime',
};

/** A gateway of the shop, running. */
export interface RunningEngine {
  name: EngineName;
  /** Where it takes GraphQL. */
  url: string;
  pid: number;
  stop(): Promise<void>;
}

export interface EngineOptions extends Omit<TargetOptions, 'log'> {
  /** Where packages are that are none of the product's. */
  cacheDir: string;
  supergraphFile: string;
}

/** A gateway that cannot be had here: the run goes on without it, and names it. */
export class MissingEngine extends Error {}
