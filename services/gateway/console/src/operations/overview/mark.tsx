import type { ComponentChildren } from 'preact';
import { Icon } from '../../elements/icon.tsx';

/** A state shown by colour, shape and text. */
export function Mark({ isGood, children }: { isGood: boolean; children: ComponentChildren }) {
  return (
    <span class={isGood ? 'mark good' : 'mark bad'}>
      <Icon name={isGood ? 'check' : 'warning'} />
      <span>{children}</span>
    </span>
  );
}
