import type { ComponentChildren } from 'preact';

export function View({ title, lead, children }: { title: string; lead?: string; children: ComponentChildren }) {
  return (
    <div class="view">
      <h1 tabIndex={-1}>{title}</h1>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </div>
  );
}

/** For when the focused element has just been removed. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus();
}

export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
