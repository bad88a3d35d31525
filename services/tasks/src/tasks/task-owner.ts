/** A user as this service knows one: by id. auth owns the rest. */
export interface TaskOwner {
  __typename: 'User';
  id: string;
}
