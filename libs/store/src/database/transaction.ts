import type { Session } from './session.ts';
import type { Statement } from './statement.ts';

const BEGIN: Statement = { name: 'begin', text: 'begin' };
const COMMIT: Statement = { name: 'commit', text: 'commit' };

/** All of `work` or nothing: closing the session without a commit rolls back. */
export async function inTransaction<Result>(session: Session, work: () => Promise<Result>): Promise<Result> {
  await session.run(BEGIN);
  const result = await work();
  await session.run(COMMIT);
  return result;
}
