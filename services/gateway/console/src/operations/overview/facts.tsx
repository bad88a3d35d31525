import type { ComponentChildren } from 'preact';
import { Icon } from '../../elements/icon.tsx';

/** Shows a value; null as “None”, and undefined as “Not known”. */
export function Fact({ value }: { value: ComponentChildren }) {
  if (value === null || value === undefined) return <span class="soft">{value === null ? 'None' : 'Not known'}</span>;
  return <span>{value}</span>;
}

export function Facts({ facts }: { facts: [name: string, value: ComponentChildren][] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Fact value={value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Shows a state by colour, shape and text. */
export function Mark({ isGood, children }: { isGood: boolean; children: ComponentChildren }) {
  return (
    <span class={isGood ? 'mark good' : 'mark bad'}>
      <Icon name={isGood ? 'check' : 'warning'} />
      <span>{children}</span>
    </span>
  );
}
