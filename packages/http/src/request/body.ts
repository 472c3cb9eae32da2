import { allow, type Verdict } from '@gatewright/kernel'
import { parse as parseContentType } from 'content-type'
import { deny, type RequestDenial } from '../codes.ts'
import type { DenialWithHeaders } from '../codes.ts'
import type { RequestFacts } from './facts.ts'
import { findTooDeep } from './json-depth.ts'
import { tooDeep, validateJson, type JsonProblem } from './validate-json.ts'

/** The denial of a body that is not JSON, such as a form. */
export const notJson: RequestDenial = deny(
  'unsupported_media_type',
  'send the body as a JSON object in UTF-8 with Content-Type: application/json; a form (application/x-www-form-urlencoded, multipart/form-data) is not read',
)

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * Parses bytes as one JSON object. An empty body is `{}`. Denials: `unsupported_media_type` unless the media type is JSON in
 * UTF-8; `invalid_request` for text that is not UTF-8, not JSON or not an object, for more than 32 levels of nesting (counted before it
 * is parsed), and for a NUL or a lone surrogate in any string or member name (`field` is the body's member that contains it). Of a repeated
 * member the last value counts. A member named `__proto__` is an own member like any other. `revive` may change values before they are
 * checked, as that of `JSON.parse` does.
 */
export function parseJsonObject(
  bytes: Uint8Array,
  contentType: string | undefined,
  revive?: (name: string, value: unknown) => unknown,
): Verdict<Record<string, unknown>, RequestDenial> {
  if (bytes.length === 0) return allow({})
  if (!isJson(contentType)) return notJson
  const found = findTooDeep(bytes)
  if (found) return denied(tooDeep(memberOf(found.member), found.at))
  let value: unknown
  try {
    value = JSON.parse(UTF8.decode(bytes), revive)
  } catch {
    return deny('invalid_request', 'the body is not valid JSON', { field: 'body' })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return deny('invalid_request', 'the body must be a JSON object', { field: 'body' })
  }
  const problem = validateJson(value)
  return problem ? denied(problem) : allow(value as Record<string, unknown>)
}

const denied = ({ message, field }: JsonProblem): RequestDenial => deny('invalid_request', message, { field })

/** Reads the name of a member, which is a JSON string if the body is JSON. */
function memberOf(quoted: Uint8Array | undefined): string {
  try {
    return quoted === undefined ? 'body' : (JSON.parse(UTF8.decode(quoted)) as string)
  } catch {
    return 'body'
  }
}

/**
 * Denies a body with a content coding, such as gzip: `unsupported_media_type`, with the codings that are accepted (RFC 9110 section
 * 15.5.16). A signature covers the bytes as sent and an idempotency key is compared by them, so no body is decoded. A binding behind a
 * parser that has decoded the body denies it too: what a request means must not depend on the server.
 */
export function codingDenial(facts: Pick<RequestFacts, 'header'>): DenialWithHeaders | undefined {
  const codings = facts.header('content-encoding')?.toLowerCase().split(',') ?? []
  return codings.every(coding => ['', 'identity'].includes(coding.trim())) ? undefined : coded
}

const coded: DenialWithHeaders = {
  ...deny(
    'unsupported_media_type',
    'send the body without a content coding: Content-Encoding must be absent or identity',
  ),
  headers: [['Accept-Encoding', 'identity']],
}

/** Whether a media type is JSON in UTF-8. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === undefined) return false
  try {
    const { type, parameters } = parseContentType(contentType)
    const charset = parameters['charset']
    return (
      /^application\/(?:json|[\w.-]+\+json)$/.test(type) && (charset ?? 'utf-8').toLowerCase() === 'utf-8'
    )
  } catch {
    return false
  }
}
