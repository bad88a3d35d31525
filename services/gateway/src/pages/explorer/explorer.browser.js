'use strict';

/* global GraphiQL, React, ReactDOM -- the scripts before this one */

const defaultQuery = `# Sign up or log in, then add a header below:
# { "authorization": "Bearer <accessToken>" }
# Subscriptions send it, too.

mutation Enter {
  login(
    input: {
      email: "you@example.com"
      password: "your password"
    }
  ) {
    accessToken
    user {
      name
      tasks(first: 10) {
        edges {
          node {
            title
            completed
          }
        }
      }
    }
  }
}
`;

const url = `${location.origin}/graphql`;

const fetcher = GraphiQL.createFetcher({
  url,
  // The socket is opened with the headers from the editor.
  subscriptionUrl: url.replace(/^http/, 'ws'),
  enableIncrementalDelivery: false,
});

// Documents may contain passwords, so they end with the tab. Earlier releases kept them.
const storage = sessionStorage;
for (const key of Object.keys(localStorage)) if (key.startsWith('graphiql:')) localStorage.removeItem(key);

ReactDOM.createRoot(document.getElementById('explorer')).render(
  React.createElement(GraphiQL, { fetcher, storage, defaultQuery, defaultEditorToolsVisibility: 'headers' }),
);
