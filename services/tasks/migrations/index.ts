import { TasksAndFeed } from './0001-tasks-and-feed.ts';
import { DeadLetters } from './0002-dead-letters.ts';
import { TimesEnd } from './0003-times-end.ts';
import { Growth } from './0005-growth.ts';

/** In order. A name once released stays: the database remembers it. */
export const migrations = [
  { name: '0001-tasks-and-feed', class: TasksAndFeed },
  { name: '0002-dead-letters', class: DeadLetters },
  { name: '0003-times-end', class: TimesEnd },
  { name: '0005-growth', class: Growth },
];
