import type { HeaderField } from '@gatewright/kernel'
import type { HandlerResponse } from '../handler-types.ts'
import type { HttpResponse } from './http-response.ts'
import type { Outcome } from './outcome.ts'

/** Converts the value that a handler returned to an outcome. Throws a `TypeError` unless it is a response or a denial. */
export function outcomeOf(operation: string, response: HandlerResponse): Outcome {
  const returned: unknown = response
  if (typeof returned === 'object' && returned !== null) {
    const fields = (response as { headers?: readonly HeaderField[] }).headers
    const body = 'ok' in response ? {} : response.body
    if (Number.isInteger(response.status))
      assertSendable(operation, { status: response.status, headers: fields ?? [], body })
    if ('ok' in response) return { kind: 'denial', denial: response }
    const { status, headers = [] } = response
    if (Number.isInteger(status)) return { kind: 'response', response: { status, headers, body } }
  }
  throw new TypeError(
    `${operation}: the handler must return { status, headers?, body? } or a denial, got ${nameOf(returned)}`,
  )
}

function nameOf(returned: unknown): string {
  if (returned === undefined) return 'nothing: a return is missing'
  if (returned === null) return 'null'
  return typeof returned === 'object' ? 'an object without a status' : typeof returned
}

/** Statuses whose responses must not have a body (RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS = [204, 205, 304]

/**
 * Throws a `TypeError` for a response that must not or cannot be sent. The check comes before the run ends, so it is never
 * stored.
 */
function assertSendable(operation: string, { status, headers, body }: HttpResponse): void {
  if (status < 200 || status > 599)
    throw new TypeError(`${operation}: the handler's status must be 200 to 599, got ${status}`)
  if (BODILESS.includes(status) && body !== undefined && body !== '')
    throw new TypeError(`${operation}: a response with status ${status} must not have a body`)
  if (!Array.isArray(headers))
    throw new TypeError(
      `${operation}: the handler's headers must be a list of pairs, such as [['location', '/payments/1']], got ${typeof headers}`,
    )
  for (const [name, value] of headers as HttpResponse['headers']) assertSendableField(operation, name, value)
}

/** A field name (RFC 9110 section 5.1), and what a field value must not contain (section 5.5). */
const FIELD_NAME = /^[!#$%&'*+\-.^_`|~\w]+$/
const NOT_IN_VALUE = /[^\t\u0020-\u007e\u0080-\u00ff]/

function assertSendableField(operation: string, name: unknown, value: unknown): void {
  if (typeof name !== 'string' || !FIELD_NAME.test(name))
    throw new TypeError(
      `${operation}: the handler's header names must be HTTP field names, got ${JSON.stringify(name)}`,
    )
  if (value === undefined || NOT_IN_VALUE.test(value as string))
    throw new TypeError(`${operation}: the handler's header ${name} has a value that cannot be sent`)
}
