import type { LinkedIdentityFieldsFragment } from '@taskmesh/client';
import { Icon } from '../elements/icon.tsx';
import { Ago } from '../elements/times.tsx';

export interface IdentityRowProps {
  identity: LinkedIdentityFieldsFragment;
  onRemove: () => void;
}

export const hostOf = (issuer: string): string => new URL(issuer).host;

export function IdentityRow({ identity: { issuer, email, createdAt, lastUsedAt }, onRemove }: IdentityRowProps) {
  return (
    <li class="row">
      <span class="badge">
        <Icon name="key" />
      </span>
      <div class="what">
        <p class="title">{hostOf(issuer)}</p>
        <p class="soft">
          As {email}, linked <Ago at={createdAt} />, used <Ago at={lastUsedAt} />
        </p>
      </div>
      <button type="button" aria-label={`Remove ${hostOf(issuer)}`} onClick={onRemove}>
        Remove
      </button>
    </li>
  );
}
