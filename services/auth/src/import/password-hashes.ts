import type { Session, Statement } from '@taskmesh/store';
import { BCRYPT } from '../passwords/bcrypt-hash.ts';
import { dummyHash, PARAMETERS } from '../passwords/argon2-hash.ts';

const { memoryCost, timeCost } = PARAMETERS;
/** Limits for memory (KiB) times passes: OWASP's minimum, and four times the cost of our own hashes. */
const [LEAST_COST, MOST_COST] = [35_840, 4 * memoryCost * timeCost];
const MOST_MEMORY_KIB = 65_536;

const parameter = (name: string) => `substring(password_hash from '[$,]${name}=([0-9]{1,6})[$,]')::bigint`;
const [MEMORY, PASSES] = [parameter('m'), parameter('t')];
/** A long interval in a pattern, such as {6,128}, takes the server ten times as long as everything else here. */
const length = (part: number) => `length(split_part(password_hash, '$', ${part}))`;

/** $1 a hash that no password matches. */
const REPLACE_UNUSABLE: Statement = {
  name: 'import-replace-hashes',
  text: `
    with replaced as (
      update public.accounts set password_hash = $1::text, has_password = false
      where not (password_hash ~ '^[$]argon2id[$]v=19[$]m=[0-9]{1,6},t=[0-9]{1,2},p=[1-4]([$][A-Za-z0-9+/]+){2}$'
        and ${length(5)} between 6 and 128 and ${length(6)} between 6 and 128
        and ${MEMORY} <= ${MOST_MEMORY_KIB} and ${MEMORY} * ${PASSES} between ${LEAST_COST} and ${MOST_COST})
        and password_hash !~ '${BCRYPT.source}'
      returning 1
    )
    select count(*)::int as count from replaced`,
};

/**
 * Replaces hashes that must not be verified as they are: those of other algorithms cannot be, too cheap or too costly ones would reveal by the login's time
 * that there is an account, and costly ones would hold up other logins. Returns how many were replaced.
 */
export async function replaceUnusableHashes(session: Session): Promise<number> {
  const [replaced] = await session.run<{ count: number }>(REPLACE_UNUSABLE, [dummyHash()]);
  return replaced?.count ?? 0;
}
