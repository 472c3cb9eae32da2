import { createHash } from 'node:crypto'
import type { Document } from './operation.ts'

/** A JSON document that does not change while the process runs, with its entity tag. */
export interface CachedDocument {
  readonly text: string
  readonly etag: string
}

/** Serialises a document and computes its entity tag. */
export function cacheDocument(document: object): CachedDocument {
  const text = JSON.stringify(document)
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url')}"` }
}

/** Responds with the document, or with 304 if `If-None-Match` names it (RFC 9110 section 13.1.2: weak comparison, `*` matches). */
export function conditionalGet({ text, etag }: CachedDocument, ifNoneMatch: string | undefined): Document {
  const headers = [
    ['Cache-Control', 'public, max-age=300'],
    ['ETag', etag],
  ] as const
  const tags = (ifNoneMatch ?? '').split(',').map(tag => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags[0] === '*'
    ? { status: 304, document: undefined, headers }
    : { document: text, headers: [...headers, ['Content-Type', 'application/json; charset=utf-8']] }
}
