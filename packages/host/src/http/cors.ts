import { exposedHeaders, type HttpResponse } from '@gatewright/http'
import type { HeaderField } from '@gatewright/kernel'

/**
 * Header fields that a page of another origin may send. A field that is missing here fails the whole request of the page, so the list has
 * what the API reads, and what clients send to every server although this one ignores it. The field of the partner key is not
 * among them, because a partner key must never be in a browser.
 */
const ACCEPTED = [
  // What the API reads.
  'authorization',
  'content-type',
  'dpop',
  'idempotency-key',
  'if-none-match',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'x-consumer-key',
  'x-open-responses',
  'x-open-responses-call-id',
  'x-user-key',
  // What tracing in a page adds: W3C Trace Context and Baggage, and Sentry.
  'baggage',
  'sentry-trace',
  'traceparent',
  'tracestate',
  // What HTTP libraries add: a name for the request, `XMLHttpRequest`, and `no-cache` for a response that is fresh.
  'cache-control',
  'pragma',
  'x-request-id',
  'x-requested-with',
].join(', ')

/** Header fields of responses that only a host sends: the tag of a document, and the name of a file. */
const EXPOSED = [...exposedHeaders, 'Content-Disposition', 'ETag'].join(', ')

/** Header fields of every response: CORS without cookies, no caching, no content sniffing. */
export const commonHeaders: readonly HeaderField[] = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', EXPOSED],
  ['Cache-Control', 'no-store'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
]

/** Makes the response to `OPTIONS` on a known path, for CORS preflights and other clients. */
export function optionsResponse(methods: readonly string[]): HttpResponse {
  const names = methods.join(', ')
  return {
    status: 204,
    headers: [
      ['Allow', names],
      ['Access-Control-Allow-Methods', names],
      ['Access-Control-Allow-Headers', ACCEPTED],
      ['Access-Control-Max-Age', '600'],
    ],
    body: undefined,
  }
}
