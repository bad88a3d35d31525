import type { OperationRun } from './data-source.ts';
import type { PreparedOperation } from './executor.ts';

export interface EngineResult {
  data: Record<string, unknown> | null;
  errors?: readonly unknown[];
  /** What services omitted without reporting an error, in the engine's own format. */
  incomplete?: unknown;
}

/** Runs one query or mutation, with coerced variables. */
export type RunOperation = (variables: Record<string, unknown>, run: OperationRun) => Promise<EngineResult>;

/** Plans an operation, at once or at its first run. */
export type Engine = (operation: PreparedOperation) => RunOperation;
