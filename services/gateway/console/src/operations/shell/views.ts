import type { ComponentType } from 'preact';
import type { IconName } from '../../elements/icon.tsx';
import { BackupsView } from '../backups/backups-view.tsx';
import { DeadLettersView } from '../dead-letters/dead-letters-view.tsx';
import { OverviewView } from '../overview/overview-view.tsx';

export interface OperatorsView {
  /** Its part of the address: `#/<name>`. */
  name: string;
  title: string;
  icon: IconName;
  Component: ComponentType;
}

const OVERVIEW: OperatorsView = { name: 'operations', title: 'Overview', icon: 'pulse', Component: OverviewView };

/** In the order of the navigation. */
export const VIEWS: readonly OperatorsView[] = [
  OVERVIEW,
  { name: 'operations/backups', title: 'Backups', icon: 'archive', Component: BackupsView },
  { name: 'operations/dead-letters', title: 'Dead letters', icon: 'letter', Component: DeadLettersView },
];

export const viewOf = (name: string): OperatorsView => VIEWS.find((view) => view.name === name) ?? OVERVIEW;
