import { missingColumns, valueOf, type Columns, type ColumnType, type RowRule } from '@taskmesh/database';
import { isBlank } from '@taskmesh/validation';
import { PARAMETERS } from '../passwords/argon2-hash.ts';

/** The columns that a store of accounts must have, and what they are here. */
export const ACCOUNT_TYPES = {
  id: 'uuid',
  email: 'text',
  email_key: 'text',
  name: 'text',
  password_hash: 'text',
  email_confirmed_at: 'timestamptz(3)',
  created_at: 'timestamptz(3)',
  updated_at: 'timestamptz(3)',
} as const satisfies Record<string, ColumnType>;

type Column = keyof typeof ACCOUNT_TYPES;

const COLUMNS = Object.keys(ACCOUNT_TYPES) as Column[]; // the keys of the object above
const TIMES: Column[] = ['email_confirmed_at', 'created_at', 'updated_at'];

export const missingAccountColumns = (columns: Columns): string | undefined =>
  missingColumns('accounts', COLUMNS, columns);

/** Far from the end of the type, so that there is room for what comes. */
export const LARGEST_VERSION = 2_000_000_000;

/** SQL: only then is PostgreSQL's lower() the whole of what `emailKey` does. */
const isAscii = (text: string) => `${text} !~ '[^\\u0001-\\u007f]'`;
const CONTROL = `'[\\u0001-\\u001f\\u007f-\\u009f]'`;

/** The rules of @taskmesh/validation for rows that did not come through it. `$1` is `SPACES`, `$2` is `BLANKS`. */
export function rulesFor(columns: Columns): RowRule[] {
  const value = (name: Column) => valueOf(columns, name, ACCOUNT_TYPES[name]);
  const email = value('email');
  return [
    ...COLUMNS.map((name) => ({
      sentence: `${name} is needed and must be of the type ${ACCOUNT_TYPES[name]}`,
      broken: `${value(name)} is null`,
    })),
    {
      sentence: 'email is an e-mail address',
      broken: `(char_length(${email}) > 254 or ${email} !~ '^[^@]+@[^@]+$' or ${email} ~ ${CONTROL}
        or translate(${email}, $1::text, '') <> ${email})`,
    },
    {
      sentence: 'email_key is made from email',
      broken: `(${isAscii(email)} and ${value('email_key')} <> lower(${email} collate "C"))`,
    },
    {
      sentence: 'name has 1 to 255 characters',
      broken: `(char_length(${value('name')}) > 255 or btrim(${value('name')}, $2::text) = '')`,
    },
    {
      sentence: 'password_hash is one of argon2',
      broken: `${value('password_hash')} !~ '^[$]argon2(id|i|d)[$]'`,
    },
    ...TIMES.map((name) => inOurYears(name, value(name))),
  ];
}

/** What has a name in JSON and JavaScript: neither infinite nor beyond. */
export const inOurYears = (name: string, value: string): RowRule => ({
  sentence: `${name} is in the years 0001 to 9999`,
  broken: `(${value} < '0001-01-01T00:00Z' or ${value} >= '10000-01-01T00:00Z')`,
});

/** For rows that are taken as they are. */
export const VERSION_RULE: RowRule = {
  sentence: `password_version is between 1 and ${LARGEST_VERSION}`,
  broken: `r.password_version not between 1 and ${LARGEST_VERSION}`,
};

const { memoryCost, timeCost } = PARAMETERS;
/** Of memory (KiB) times passes: what OWASP asks for at the least, and four times what a hash costs here. */
const [LEAST_COST, MOST_COST] = [35_840, 4 * memoryCost * timeCost];
const MOST_MEMORY_KIB = 65_536;

/**
 * SQL that is true for a row whose password may be checked as it is: neither so cheap nor so costly that the time of a
 * login tells that there is an account, and nothing that keeps other logins waiting.
 */
export function hasUsableHash(columns: Columns): string {
  const hash = valueOf(columns, 'password_hash', 'text');
  const number = (name: string) => `substring(${hash} from '[$,]${name}=([0-9]{1,6})[$,]')::bigint`;
  const [memory, passes] = [number('m'), number('t')];
  return `(${hash} ~ '^[$]argon2id[$]v=19[$]m=[0-9]{1,6},t=[0-9]{1,2},p=[1-4]([$][A-Za-z0-9+/]{6,128}){2}$'
    and ${memory} <= ${MOST_MEMORY_KIB} and ${memory} * ${passes} between ${LEAST_COST} and ${MOST_COST})`;
}

/** SQL that is true for a row whose `email_key` only `emailKey` can judge. */
export function needsJudging(columns: Columns): string {
  return `not (${isAscii(valueOf(columns, 'email', 'text'))})`;
}

const LAST_OF_THE_BASIC_PLANE = 0xffff;

function charactersThat(is: (character: string) => boolean): string {
  return Array.from({ length: LAST_OF_THE_BASIC_PLANE }, (_, code) => String.fromCharCode(code + 1))
    .filter((character) => character.isWellFormed() && is(character))
    .join('');
}

/** Every character that a blank name may consist of; all of them are in the basic plane. */
export const BLANKS = charactersThat(isBlank);

/** Every kind of white space: none of it is in an address. */
export const SPACES = charactersThat((character) => /\s/.test(character));
