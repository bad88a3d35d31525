/** A user, of whom this service knows only the id. */
export interface TaskOwner {
  __typename: 'User';
  id: string;
}
