/** A statement that PostgreSQL prepares once per connection. */
export interface Statement {
  name: string;
  text: string;
}
