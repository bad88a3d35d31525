import type { AppError, ErrorCode } from '@taskmesh/contracts';
import { systemClock, type Clock } from '@taskmesh/service';
import type { RequestOptions } from '../../src/connections/connections.ts';
import type { RequestCall } from '../../src/supergraph/operation.ts';
import { createWorld, type World } from './world.ts';

export const ADA = { role: 'user', userId: 'ada', sessionId: 'session' } as const;
export const OPTIONS: RequestOptions = {
  call: { identity: ADA, requestId: 'request' },
  idempotent: true,
  timeoutMs: 10_000,
};
export const UNAVAILABLE = {
  code: 'SERVICE_UNAVAILABLE',
  message: 'The service is not available right now; try again.',
};

/** How often `reset` was called. */
let resets = 0;
const isOld = (requestId: string) => Number(requestId.replace('call after reset ', '')) < resets;

export const createCall = (changes: Partial<RequestCall> = {}): RequestCall => ({
  identity: { ...ADA },
  requestId: `call after reset ${resets}`,
  traceparent: undefined,
  ip: '192.0.2.1',
  onEndedSessions: () => undefined,
  ...changes,
});

export interface Outcome {
  result?: never;
  code?: ErrorCode;
}

/** The same services in one process and over HTTP. */
export async function createBothWorlds(clock: Clock = systemClock) {
  const worlds = [
    await createWorld('in-process', clock, 'compiled'),
    await createWorld('http', clock, 'compiled'),
  ] as const;

  /** Runs `act` in each world; fails unless the outcomes, and what the services saw, are the same. */
  const inBoth = async (act: (world: World) => Promise<unknown>) => {
    const outcomes = await Promise.all(
      worlds.map(async (world) => {
        const outcome = await act(world).then(
          (result) => ({ result }),
          (error: AppError) => ({ code: error.code, message: error.message, issues: error.issues, error: error.name }),
        );
        return { outcome, seen: [...world.seen] };
      }),
    );
    const [inProcess, overHttp] = outcomes;
    expect(inProcess).toStrictEqual(overHttp);
    return { seen: overHttp?.seen ?? [], outcome: overHttp?.outcome as Outcome };
  };

  return {
    worlds,
    inBoth,
    run: (
      source: string,
      variables: Record<string, unknown> = {},
      call: (world: World) => RequestCall = () => createCall(),
    ) => inBoth((world) => world.executor.run(world.executor.prepare(source), variables, call(world))),
    /** Requests that were abandoned earlier may still arrive, and must be ignored from now on. */
    reset() {
      resets++;
      for (const world of worlds) world.reset(isOld);
    },
    behave(behaviour: World['behave']) {
      for (const world of worlds) world.behave = behaviour;
    },
    stop: () => Promise.all(worlds.map((world) => world.stop())),
  };
}

export type BothWorlds = Awaited<ReturnType<typeof createBothWorlds>>;
