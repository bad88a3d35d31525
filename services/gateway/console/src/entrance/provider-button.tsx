import { ActionError } from '../elements/action-error.tsx';
import { useAction } from '../requests/use-action.ts';
import { useProvider, useProviderName } from '../session/provider.ts';

/** Sign-in at the provider, if there is one. Below the form, so that nothing moves when it appears. */
export function ProviderButton() {
  const { provider } = useProvider();
  const name = useProviderName();
  const { run, isBusy, error } = useAction((stay: boolean) => provider.go({ stay, linkTo: null }));
  if (name === undefined) return null;
  return (
    <div class="provider">
      <p class="soft">or</p>
      <button type="button" class="wide" disabled={isBusy} onClick={() => void run(isToStay())}>
        Continue with {name}
      </button>
      <ActionError error={error} />
    </div>
  );
}

/** Reads the choice in the form above. */
function isToStay(): boolean {
  return document.querySelector<HTMLInputElement>('input[name=stay]')?.checked ?? false;
}
