import { valueOf, type Columns, type ColumnType, type RowRule } from '@taskmesh/database';
import { isBlank, PRIORITIES } from '@taskmesh/validation';

/** The columns that a tasks store must have, and what they are here. */
export const TASK_TYPES = {
  id: 'uuid',
  user_id: 'uuid',
  title: 'text',
  description: 'text',
  completed: 'boolean',
  due_date: 'timestamptz(3)',
  category: 'text',
  priority: 'text',
  created_at: 'timestamptz(3)',
  updated_at: 'timestamptz(3)',
} as const satisfies Record<string, ColumnType>;

type Column = keyof typeof TASK_TYPES;

const NEEDED: Column[] = ['id', 'user_id', 'title', 'completed', 'priority', 'created_at', 'updated_at'];
const TIMES: Column[] = ['due_date', 'created_at', 'updated_at'];

/**
 * The rules of @taskmesh/validation for rows that did not come through it; length counts code points here as there.
 * `$1` is `BLANKS`.
 */
export function rulesFor(columns: Columns): RowRule[] {
  const value = (name: Column) => valueOf(columns, name, TASK_TYPES[name]);
  const length = (name: Column) => `char_length(${value(name)})`;
  return [
    ...NEEDED.map((name) => ({
      sentence: `${name} is needed and must be of the type ${TASK_TYPES[name]}`,
      broken: `${value(name)} is null`,
    })),
    {
      sentence: 'title has 3 to 255 characters and is not blank',
      broken: `(${length('title')} not between 3 and 255 or btrim(${value('title')}, $1::text) = '')`,
    },
    { sentence: 'description has at most 2000 characters', broken: `${length('description')} > 2000` },
    { sentence: 'category has at most 255 characters', broken: `${length('category')} > 255` },
    {
      sentence: `priority is one of ${PRIORITIES.join(', ')}`,
      broken: `${value('priority')} not in (${PRIORITIES.map((priority) => `'${priority}'`).join(', ')})`,
    },
    { sentence: 'due_date is a time or null', broken: `(r.due_date is not null and ${value('due_date')} is null)` },
    ...TIMES.map((name) => ({
      sentence: `${name} is in the years 0001 to 9999`,
      broken: `(${value(name)} < '0001-01-01T00:00Z' or ${value(name)} >= '10000-01-01T00:00Z')`,
    })),
  ];
}

/** Far from the end of the type, so that there is room for what comes; of epochs, too. */
export const LARGEST_VERSION = 2_000_000_000;

/** The same for rows that are taken as they are. */
export function archivedRulesFor(columns: Columns): RowRule[] {
  const broken = `r.version not between 1 and ${LARGEST_VERSION}`;
  return [...rulesFor(columns), { sentence: `version is between 1 and ${LARGEST_VERSION}`, broken }];
}

const LAST_OF_THE_BASIC_PLANE = 0xffff;

/** Every character that a blank title may consist of; all of them are in the basic plane. */
export const BLANKS = Array.from({ length: LAST_OF_THE_BASIC_PLANE }, (_, code) => String.fromCharCode(code + 1))
  .filter((character) => character.isWellFormed() && isBlank(character))
  .join('');
