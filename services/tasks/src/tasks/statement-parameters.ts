/** Numbers the parameters of a statement that is put together, in the order in which its text first needs them. */
export class StatementParameters<Name extends string> {
  readonly names: Name[] = [];

  /** @returns `$1`, `$2` … */
  readonly of = (name: Name): string => {
    if (!this.names.includes(name)) this.names.push(name);
    return `$${this.names.indexOf(name) + 1}`;
  };
}
