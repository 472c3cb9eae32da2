import { createHash } from 'node:crypto'
import type { Document } from '../../http/operation.ts'

/** A JSON document that stays the same as long as the process runs, with the entity tag of its bytes. */
export interface CachedDocument {
  readonly text: string
  readonly etag: string
}

/** Makes the text and the tag, once. */
export function cacheDocument(document: object): CachedDocument {
  const text = JSON.stringify(document)
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` }
}

/** The document, or 304 for who has it by `If-None-Match` (RFC 9110 section 13.1.2: compared weakly, `*` is any). */
export function conditionalGet({ text, etag }: CachedDocument, ifNoneMatch: string | undefined): Document {
  const headers = [
    ['Cache-Control', 'public, max-age=300'],
    ['ETag', etag],
  ] as const
  const held = (ifNoneMatch ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''))
  return held.includes(etag) || held[0] === '*'
    ? { status: 304, document: undefined, headers }
    : { document: text, headers: [...headers, ['Content-Type', 'application/json; charset=utf-8']] }
}
