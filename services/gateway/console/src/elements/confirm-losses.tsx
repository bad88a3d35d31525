import { Confirm, type ConfirmProps } from './confirm.tsx';

/** Asks before something that discards unsaved work. */
export function ConfirmLosses({ losses, ...question }: Omit<ConfirmProps, 'children'> & { losses: readonly string[] }) {
  return (
    <Confirm {...question}>
      <ul class="losses">
        {losses.map((loss) => (
          <li key={loss}>{loss}</li>
        ))}
      </ul>
    </Confirm>
  );
}
