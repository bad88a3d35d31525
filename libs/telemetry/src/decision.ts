import type { TraceParent } from './traceparent.ts';

export interface DecisionOptions {
  /** Which part of the traces that begin here is recorded, from 0 to 1. */
  ratio: number;
  /** Whether a caller's own decision counts. */
  isParentBased: boolean;
  /** So many traces a second are recorded because their caller does; those behind them as the ratio has it. */
  callersPerS: number;
  /** From 0 up to 1. */
  random: () => number;
  /** Milliseconds of any clock that only goes forward. */
  monotonicMs: () => number;
}

/**
 * Whether a request from outside is recorded. Not OpenTelemetry's samplers: those believe every caller, and the one that
 * goes by the trace's id records whatever id a caller chose for that. A caller that records nothing is believed; one that
 * records is believed as often as there is room for.
 */
export function createDecision(options: DecisionOptions): (parent: TraceParent | undefined) => boolean {
  const { ratio, isParentBased, callersPerS, random, monotonicMs } = options;
  let room = callersPerS;
  let lastMs = monotonicMs();

  const hasRoom = () => {
    const nowMs = monotonicMs();
    room = Math.min(callersPerS, room + ((nowMs - lastMs) / 1_000) * callersPerS);
    lastMs = nowMs;
    if (room < 1) return false;
    room--;
    return true;
  };

  return (parent) => {
    if (isParentBased && parent) {
      if (!parent.isSampled) return false;
      if (hasRoom()) return true;
    }
    return random() < ratio;
  };
}
