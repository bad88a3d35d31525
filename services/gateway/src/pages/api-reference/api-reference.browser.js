'use strict';

/* global SwaggerUIBundle -- the script before this one */

/** The gateway may have other addresses than the public one, but the page may only call its own origin. */
const toThisOrigin = (request) => {
  const { pathname, search } = new URL(request.url, location.origin);
  request.url = `${location.origin}${pathname}${search}`;
  return request;
};

SwaggerUIBundle({
  url: '/api/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayOperationId: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null, // would send the description to another host
  requestInterceptor: toThisOrigin,
});

const dark = matchMedia('(prefers-color-scheme: dark)');
const followColorScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followColorScheme);
followColorScheme();
