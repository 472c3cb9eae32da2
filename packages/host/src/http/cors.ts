import { exposedHeaders } from '@gatewright/http'
import type { HttpResponse } from '@gatewright/http/internal'
import type { HeaderField } from '@gatewright/kernel/internal'

/**
 * Header fields that a browser may send. The field of the partner key is not among them, because a partner key must never be in
 * a browser.
 */
const ACCEPTED = [
  'authorization',
  'content-type',
  'idempotency-key',
  'x-user-key',
  'x-consumer-key',
  'x-open-responses',
  'x-open-responses-call-id',
  'traceparent',
].join(', ')

/** Header fields of every response: CORS without cookies, no caching, no content sniffing. */
export const commonHeaders: readonly HeaderField[] = [
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', exposedHeaders.join(', ')],
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
