import { TasksAndFeed } from './0001-tasks-and-feed.ts';
import { DeadLetters } from './0002-dead-letters.ts';
import { TimesEnd } from './0003-times-end.ts';
import { ClosedOwners } from './0004-closed-owners.ts';
import { Growth } from './0005-growth.ts';
import { DeadLettersByOwner } from './0006-dead-letters-by-owner.ts';
import { OneCounter } from './0007-one-counter.ts';

/** In order. Never rename a released migration: databases store its name. */
export const migrations = [
  { name: '0001-tasks-and-feed', class: TasksAndFeed },
  { name: '0002-dead-letters', class: DeadLetters },
  { name: '0003-times-end', class: TimesEnd },
  { name: '0004-closed-owners', class: ClosedOwners },
  { name: '0005-growth', class: Growth },
  { name: '0006-dead-letters-by-owner', class: DeadLettersByOwner },
  { name: '0007-one-counter', class: OneCounter },
];
