import type { ReadSessionsQuery } from '@taskmesh/client';
import { Icon } from '../elements/icon.tsx';
import { Ago } from '../elements/times.tsx';
import { nameOf } from './program-name.ts';

export interface SessionRowProps {
  session: ReadSessionsQuery['sessions'][number];
  onEnd: () => void;
}

export function SessionRow({ session: { createdAt, lastUsedAt, ip, client, current }, onEnd }: SessionRowProps) {
  const name = nameOf(client);
  return (
    <li class="row">
      <span class="badge">
        <Icon name="devices" />
      </span>
      <div class="what">
        <p class="title" title={client ?? undefined}>
          {name}
          {current && <span class="label">This device</span>}
        </p>
        <p class="soft">
          Used <Ago at={lastUsedAt} />
          {ip && ` from ${ip}`}, opened <Ago at={createdAt} />
        </p>
      </div>
      {!current && (
        <button type="button" aria-label={`End the session of ${name}`} onClick={onEnd}>
          End
        </button>
      )}
    </li>
  );
}
