import type { Incompleteness } from '@taskmesh/federation';
import type { OperationRun } from './sources.ts';
import type { PreparedOperation, Resized } from './executor.ts';

export interface EngineResult {
  data: Record<string, unknown> | null;
  errors?: readonly unknown[];
  /** What services omitted without reporting an error. */
  incomplete?: readonly Incompleteness[] | undefined;
}

/** Runs one query or mutation, with coerced variables. */
export type RunOperation = (variables: Record<string, unknown>, run: OperationRun) => Promise<EngineResult>;

/** Plans an operation, at once or at its first run. */
export type Engine = (operation: PreparedOperation, resized: Resized) => RunOperation;
