import type { OperationRun } from './data-source.ts';
import type { PreparedOperation } from './executor.ts';

export interface EngineResult {
  data: Record<string, unknown> | null;
  errors?: readonly unknown[];
  /** What services left out without an error, in the engine's own words. */
  incomplete?: unknown;
}

/** Runs one query or mutation, with coerced variables. */
export type RunOperation = (variables: Record<string, unknown>, run: OperationRun) => Promise<EngineResult>;

/** Plans an operation, at once or at its first run. */
export type Engine = (operation: PreparedOperation) => RunOperation;
