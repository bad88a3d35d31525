import type { TraceParent } from './traceparent.ts';

export interface DecisionOptions {
  /** The share of traces starting here that is recorded, from 0 to 1. */
  ratio: number;
  /** Whether to respect the caller's decision. */
  isParentBased: boolean;
  /** How many traces per second are recorded because their caller does so; beyond that, `ratio` applies. */
  callersPerS: number;
  /** From 0 up to 1. */
  random: () => number;
  /** Milliseconds of any monotonic clock. */
  monotonicMs: () => number;
}

/**
 * Decides whether a request from outside is recorded. OpenTelemetry's samplers do not fit: they trust every caller, and
 * the one based on trace ids lets a caller choose an id that is recorded. Here a caller's "not recorded" is respected,
 * and its "recorded" up to a rate limit.
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
