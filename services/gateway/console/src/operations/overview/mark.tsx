import type { ComponentChildren } from 'preact';
import { Icon } from '../../elements/icon.tsx';

/** Good or not: by colour, by form and in words. */
export function Mark({ isGood, children }: { isGood: boolean; children: ComponentChildren }) {
  return (
    <span class={isGood ? 'mark good' : 'mark bad'}>
      <Icon name={isGood ? 'check' : 'warning'} />
      <span>{children}</span>
    </span>
  );
}
