/** What a service says of a database that was loaded from a backup of its store. */
export type Adoption =
  | {
      complete: true;
      /** Rows taken over, by table. */
      rows: Record<string, number>;
      /** Tables that do not belong to the store; they are gone. */
      dropped: string[];
    }
  | {
      complete: false;
      /** One sentence for the operator's log. */
      reason: string;
    };
