import type { Incompleteness } from '@taskmesh/federation';
import type { OperationRun } from './sources.ts';
import type { PreparedOperation, Resized } from './executor.ts';

export interface EngineResult<Data = Record<string, unknown> | null> {
  data: Data;
  errors?: readonly unknown[];
  /** What services omitted without reporting an error. */
  incomplete?: readonly Incompleteness[] | undefined;
}

type Run<Data> = (variables: Record<string, unknown>, run: OperationRun) => Promise<EngineResult<Data>>;

/** Runs one query or mutation, with coerced variables. */
export type RunOperation = Run<Record<string, unknown> | null>;

export interface RunnableOperation {
  run: RunOperation;
  /** As `run`, with the data as JSON. */
  runForText: Run<string>;
}

/** Plans an operation, at once or at its first run. */
export type Engine = (operation: PreparedOperation, resized: Resized) => RunnableOperation;
