import type { User } from '@taskmesh/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Why somebody who was signed in here is signed in no more: what they did not ask for, or what is worth a last word. */
export type Farewell = 'ended' | 'deleted';

export interface Farewells {
  farewell: Farewell | undefined;
  /** They asked for it: nothing needs to be said. */
  expectEnd(): void;
  /** They deleted their account. The session may end before the answer tells so. */
  sayDeleted(): void;
}

export function useFarewell(user: User | null | undefined): Farewells {
  const [farewell, setFarewell] = useState<Farewell>();
  const isExpected = useRef(false);
  const before = useRef(user);
  useLayoutEffect(() => {
    if (user) setFarewell(undefined);
    else if (before.current && !isExpected.current) setFarewell((said) => said ?? 'ended');
    isExpected.current = false;
    before.current = user;
  }, [user]);
  return {
    farewell,
    expectEnd: () => void (isExpected.current = true),
    sayDeleted: () => setFarewell('deleted'),
  };
}
