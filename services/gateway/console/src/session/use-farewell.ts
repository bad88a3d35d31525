import type { User } from '@taskmesh/client';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Why the user is no longer signed in: the session ended unasked, or the account was deleted. */
export type Farewell = 'ended' | 'deleted';

export interface Farewells {
  farewell: Farewell | undefined;
  /** The user is signing out, which needs no explanation. */
  expectEnd(): void;
  /** The account was deleted. The session may end before the answer to the deletion arrives. */
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
