import { AccountView } from '../account/account-view.tsx';
import { SessionsView } from '../sessions/sessions-view.tsx';
import { TasksView } from '../tasks/tasks-view.tsx';
import { TokensView } from '../tokens/tokens-view.tsx';
import { TrailView } from '../trail/trail-view.tsx';
import type { ViewProps } from './desk.tsx';
import type { ViewEntry } from './frame.tsx';

const TASKS: ViewEntry<ViewProps> = { name: 'tasks', title: 'Tasks', icon: 'list', Component: TasksView };

export const VIEWS: readonly ViewEntry<ViewProps>[] = [
  TASKS,
  { name: 'account', title: 'Account', icon: 'person', Component: AccountView },
  { name: 'sessions', title: 'Sessions', icon: 'devices', Component: SessionsView },
  { name: 'tokens', title: 'Tokens', icon: 'key', Component: TokensView },
  { name: 'trail', title: 'Activity', icon: 'history', Component: TrailView },
];

/** Returns the view with this name, or the tasks for unknown names. */
export const viewOf = (name: string) => VIEWS.find((view) => view.name === name) ?? TASKS;
