import type { BackupsStatus, FeedStatus, StoreStatus, TasksStatus } from '@taskmesh/internal-api';
import type { RealtimeFigures } from './realtime-figures.ts';

export interface NamedStatus {
  name: 'gateway' | 'auth' | 'tasks' | 'backup';
  /** Whether it answers; otherwise the rest is null. */
  isUp: boolean;
  version: string | null;
  startedAt: string | null;
  /** Null for the gateway, which has none. */
  store: StoreStatus | null;
}

/** The platform as this gateway sees it. What is not known, because who knows it is away, is null. */
export interface PlatformStatus {
  at: string;
  /** Sentences for operators; empty when all is well. */
  problems: string[];
  services: NamedStatus[];
  feed: FeedStatus | null;
  eventLog: {
    system: TasksStatus['eventLog']['system'];
    /** Whether tasks can publish to it. */
    isUpForTasks: boolean | null;
    isUpForGateway: boolean;
  };
  /** Of this gateway, as `realtime` is; in memory it is nobody else's. */
  cache: { system: 'redis' | 'memory'; isUp: boolean };
  realtime: RealtimeFigures;
  backups: BackupsStatus | null;
}
