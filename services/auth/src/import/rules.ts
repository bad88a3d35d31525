import { STORE_TABLES } from '@taskmesh/internal-api';
import {
  BLANKS,
  findBrokenRules,
  filterCharacters,
  supportedYearsRule,
  inTransaction,
  STORE,
  tablesOf,
  valueOf,
  type Columns,
  type ImportedColumn,
  type RowRule,
  type SqlSession,
  type StoreRules,
} from '@taskmesh/store';
import { emailKey } from '../accounts/email-key.ts';
import { BCRYPT, COST, dummyHash, prefixOf } from '../passwords/hasher.ts';

const required = {
  id: { type: 'uuid' },
  email: { type: 'text' },
  email_key: { type: 'text' },
  name: { type: 'text' },
  password_hash: { type: 'text' },
  email_confirmed_at: { type: 'timestamptz(3)' },
  created_at: { type: 'timestamptz(3)' },
  updated_at: { type: 'timestamptz(3)' },
} as const satisfies Record<string, ImportedColumn>;

/** No text of ours is this long. Longer ones would fill the memory of processes that read them. */
const MAX_LENGTH = 1_024;
const CONTROL_CHARACTERS = `'[\\u0001-\\u001f\\u007f-\\u009f]'`;
/** Any white space; addresses contain none. */
const WHITE_SPACE = filterCharacters((character) => /\s/.test(character));

/** Applies @taskmesh/contracts's rules to rows that bypassed it. `$1` is `WHITE_SPACE`, `$2` is `BLANKS`. */
function rulesFor(columns: Columns): RowRule[] {
  const value = (name: keyof typeof required) => valueOf(columns, name, required[name].type);
  const email = value('email');
  return [
    {
      sentence: 'email is an e-mail address',
      broken: `(char_length(${email}) > 254 or ${email} !~ '^[^@<>]+@[^@<>]+$' or ${email} ~ ${CONTROL_CHARACTERS}
        or translate(${email}, $1::text, '') <> ${email})`,
    },
    {
      sentence: 'email_key is made from email',
      broken: `(char_length(${value('email_key')}) > ${MAX_LENGTH} or ${isAscii(email)} and ${value('email_key')} <> lower(${email} collate "C"))`,
    },
    {
      sentence: 'name has 1 to 255 characters',
      broken: `(char_length(${value('name')}) > 255 or btrim(${value('name')}, $2::text) = '')`,
    },
    {
      // An index has no room for many more. Hashes of other kinds are replaced.
      sentence: `a password_hash of bcrypt has at most ${MAX_LENGTH} bytes`,
      broken: `(starts_with(${value('password_hash')}, '$2') and octet_length(${value('password_hash')}) > ${MAX_LENGTH})`,
    },
  ];
}

/** Rules for a column of the other tables of an archive, whose rows are inserted unchanged. */
function rulesForType(name: string, type: string): RowRule[] {
  const value = `r.${name}`;
  if (type === 'timestamp with time zone') return [supportedYearsRule(name, value)];
  const sentence = `${name} has at most ${MAX_LENGTH} characters`;
  return type === 'text' ? [{ sentence, broken: `char_length(${value}) > ${MAX_LENGTH}` }] : [];
}

export const accountRules: Omit<StoreRules, 'complete'> = {
  table: 'accounts',
  columns: { ...required, has_password: { type: 'boolean' }, password_version: { type: 'integer', isVersion: true } },
  required: Object.keys(required),
  rulesFor,
  values: [WHITE_SPACE, BLANKS],
  duplicates: 'Two rows of the table accounts have the same id or the same address.',
  tables: STORE_TABLES.auth,
  async check(session, schema, columns) {
    const reason = await checkEmailKeys(session, schema, columns);
    if (reason !== undefined || schema !== STORE) return reason;
    for (const [table, types] of await tablesOf(session, STORE)) {
      if (STORE_TABLES.auth[table]?.archived !== 'rows' || table === 'accounts') continue;
      const rules = [...types].flatMap(([name, type]) => rulesForType(name, type));
      const broken = await findBrokenRules(session, { schema, table }, rules, []);
      if (broken !== undefined) return broken;
    }
    return undefined;
  },
};

/** SQL condition. For ASCII, PostgreSQL's lower() does all that `emailKey` does. */
const isAscii = (text: string): string => `${text} !~ '[^\\u0001-\\u007f]'`;

/** Opens the cursor that `NEXT_KEYS` reads. */
function openKeys(schema: string, columns: Columns): string {
  const [email, key] = [valueOf(columns, 'email', 'text'), valueOf(columns, 'email_key', 'text')];
  return `declare email_keys no scroll cursor for
      select ${email} as email, ${key} as key from ${schema}.accounts r where not (${isAscii(email)})`;
}

const NEXT_KEYS = 'fetch 1000 from email_keys';

/** Checks addresses beyond ASCII here: they are rare, and SQL cannot compute their keys. */
function checkEmailKeys(session: SqlSession, schema: string, columns: Columns): Promise<string | undefined> {
  return inTransaction(session, async () => {
    await session.run(openKeys(schema, columns));
    for (;;) {
      const rows = await session.run<{ email: string; key: string }>(NEXT_KEYS);
      if (rows.length === 0) return undefined;
      if (rows.some(({ email, key }) => emailKey(email) !== key))
        return 'Rows of the table accounts break the rules: email_key is made from email.';
    }
  });
}

/** Limits for memory (KiB) times passes: OWASP's minimum, and four times the cost of our own hashes. */
const [MIN_COST, MAX_COST] = [35_840, 4 * COST.memoryCost * COST.timeCost];
const MAX_MEMORY_KIB = 65_536;

const parameter = (name: string) => `substring(password_hash from '[$,]${name}=([0-9]{1,6})[$,]')::bigint`;
const [MEMORY, PASSES] = [parameter('m'), parameter('t')];
/** Checked outside the pattern: there, a long interval such as {6,128} takes the server ten times as long as everything else here. */
const length = (part: number) => `length(split_part(password_hash, '$', ${part}))`;

/** $1 a hash that no password matches, $2 what argon2 hashes must begin with. */
const REPLACE_UNUSABLE = `
    with replaced as (
      update public.accounts set password_hash = $1::text, has_password = false
      where not (starts_with(password_hash, $2::text) and password_hash ~ '^[$]argon2id[$]v=19[$]m=[0-9]{1,6},t=[0-9]{1,2},p=[1-4]([$][A-Za-z0-9+/]+){2}$'
        and ${length(5)} between 6 and 128 and ${length(6)} between 6 and 128
        and ${MEMORY} <= ${MAX_MEMORY_KIB} and ${MEMORY} * ${PASSES} between ${MIN_COST} and ${MAX_COST})
        and password_hash !~ '${BCRYPT.source}'
      returning 1
    )
    select count(*)::int as count from replaced`;

/**
 * Replaces hashes that cannot or must not be verified: those of other algorithms, and argon2 hashes with other parameters than ours.
 * Their login time would reveal that the account exists, and costly ones would hold up other logins. Archives keep those of a similar
 * cost, which earlier releases have accepted. Returns the number of replaced hashes.
 */
export async function replaceUnusableHashes(session: SqlSession, source: 'archive' | 'dump'): Promise<number> {
  const prefix = source === 'dump' ? prefixOf(COST) : '$argon2id$';
  const [replaced] = await session.run<{ count: number }>(REPLACE_UNUSABLE, [dummyHash(), prefix]);
  return replaced?.count ?? 0;
}
