import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PageResponse } from '@gatewright/host/internal'
import { pageHeaders } from './headers.ts'

/** A file of the guide, as its path and the request's `If-None-Match` ask for it. */
type GuideResponse = (known: string | undefined) => PageResponse

/** The files of the documentation site by their paths. Empty if it is not built. */
export type Guide = ReadonlyMap<string, GuideResponse>

const FOLDER = fileURLToPath(new URL('../guide/', import.meta.url))
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
}

/**
 * Returns the files of the documentation site by their paths below `/guide`; none if `npm run guide` has not built it. Only files
 * that exist now are served: no path of a request is opened. Each is read at its first request.
 */
export function guideResponses(folder: string = FOLDER): Guide {
  if (!existsSync(folder)) return new Map()
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    /\w\.\w+$/.test(name),
  )
  const responses = new Map(
    files.map(name => [`/guide/${name.replaceAll('\\', '/')}`, fileResponse(folder, name)]),
  )
  const start = responses.get('/guide/index.html')
  return start ? responses.set('/guide', start).set('/guide/', start) : responses
}

function fileResponse(folder: string, name: string): GuideResponse {
  let read: { readonly body: Buffer; readonly tag: string } | undefined
  const mediaType = MEDIA_TYPES[name.split('.').at(-1) as string] ?? 'application/octet-stream'
  return known => {
    if (!read) {
      const body = readFileSync(join(folder, name))
      read = { body, tag: `"${createHash('sha256').update(body).digest('base64url')}"` }
    }
    const headers: PageResponse['headers'] = [
      ...pageHeaders({}),
      ['Content-Type', mediaType],
      ['Cache-Control', 'no-cache'],
      ['ETag', read.tag],
    ]
    if (known?.includes(read.tag)) return { status: 304, headers, body: undefined }
    return { status: 200, headers, body: read.body }
  }
}
