import type { ComponentType } from 'preact';
import { AccountView } from '../account/account-view.tsx';
import type { IconName } from '../elements/icon.tsx';
import { SessionsView } from '../sessions/sessions-view.tsx';
import { TasksView } from '../tasks/tasks-view.tsx';
import { TokensView } from '../tokens/tokens-view.tsx';
import { TrailView } from '../trail/trail-view.tsx';
import type { ViewProps } from './view-props.ts';

export interface ViewEntry {
  /** Its part of the address: `#/<name>`. */
  name: string;
  title: string;
  icon: IconName;
  Component: ComponentType<ViewProps>;
}

const TASKS: ViewEntry = { name: 'tasks', title: 'Tasks', icon: 'list', Component: TasksView };

/** In the order of the navigation. */
export const VIEWS: readonly ViewEntry[] = [
  TASKS,
  { name: 'account', title: 'Account', icon: 'person', Component: AccountView },
  { name: 'sessions', title: 'Sessions', icon: 'devices', Component: SessionsView },
  { name: 'tokens', title: 'Tokens', icon: 'key', Component: TokensView },
  { name: 'trail', title: 'Activity', icon: 'history', Component: TrailView },
];

/** Unknown names show the tasks. */
export function viewOf(name: string): ViewEntry {
  return VIEWS.find((view) => view.name === name) ?? TASKS;
}
