import type { ComponentChildren } from 'preact';

/** A view below its heading. */
export function View({ title, lead, children }: { title: string; lead?: string; children: ComponentChildren }) {
  return (
    <div class="view">
      <h1 tabIndex={-1}>{title}</h1>
      {lead && <p class="lead">{lead}</p>}
      {children}
    </div>
  );
}

/** For whoever has just taken away what they were on. */
export function focusHeading(): void {
  document.querySelector('h1')?.focus();
}

/** A part of a view, named by its own heading. */
export function Section({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
