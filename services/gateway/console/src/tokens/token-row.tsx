import type { PersonalTokenFieldsFragment } from '@taskmesh/client';
import { Icon } from '../elements/icon.tsx';
import { Ago, Day } from '../elements/times.tsx';

export type PersonalToken = PersonalTokenFieldsFragment;

export function TokenRow({ token, onEnd }: { token: PersonalToken; onEnd: () => void }) {
  const { name, scope, expiresAt, lastUsedAt } = token;
  return (
    <li class="row">
      <span class="badge">
        <Icon name="key" />
      </span>
      <div class="what">
        <p class="title">
          {name}
          <span class="label">{scope === 'READ' ? 'Reads' : 'Reads and writes'}</span>
        </p>
        <p class="soft">
          Expires on <Day at={expiresAt} />, {lastUsedAt ? 'used ' : 'never used'}
          {lastUsedAt && <Ago at={lastUsedAt} />}
        </p>
      </div>
      <button type="button" aria-label={`End the token ${name}`} onClick={onEnd}>
        End
      </button>
    </li>
  );
}
