// An application imports these names from @apollo/client, @apollo/client/link/subscriptions and @apollo/client/utilities.
// Our test runs the example with version 4 and, as a second package, with version 3, whose files Node finds by path only.
const isThird = process.env.APOLLO_VERSION === '3';
const load = async (path, file) =>
  isThird ? (await import(`apollo-client-3/${file}`)).default : import(`@apollo/client${path}`);

export const { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } = await load('', 'core/core.cjs');
export const { GraphQLWsLink } = await load('/link/subscriptions', 'link/subscriptions/subscriptions.cjs');
export const { getMainDefinition } = await load('/utilities', 'utilities/utilities.cjs');
