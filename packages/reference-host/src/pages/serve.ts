import type { Pages, PageResponse } from '@gatewright/host'
import type { IncomingHttpHeaders } from 'node:http'
import { originOf } from '@gatewright/host/internal'
import type { Config } from '../config/config.ts'
import { userScopes } from '../product/scopes.ts'
import { readBuilt, readManifest } from './bundle.ts'
import { fillDocument, type HostFacts } from './document.ts'
import { HOST_VERSION } from '../product/version.ts'
import { pageHeaders } from './headers.ts'
import { llmsText } from './llms.ts'
import { namesHtml, prefersJson } from './prefers-json.ts'
import { pages as allPages, type Page } from './table.ts'

type HttpResponse = (headers: IncomingHttpHeaders) => PageResponse

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
}

/**
 * Reads the built pages that a listener of a host serves. Documents are filled in once; assets are read at their first request.
 */
export function createPages(config: Config, table: readonly Page[] = allPages): Pages {
  const served = table.filter(page => page.served(config))
  const manifest = served.length === 0 ? { pages: {} } : readManifest()
  const responses = new Map<string, HttpResponse>()
  let notFound: HttpResponse | undefined
  const facts = factsOf(config)
  for (const page of served) {
    const built = manifest.pages[page.name]
    if (!built) throw new Error(`the page ${page.name} is not built: run npm run build`)
    const security = pageHeaders(page)
    const filled = fillDocument(readBuilt(built.document).toString(), facts, page)
    const document = documentResponse(filled, security)
    if (page.path === undefined) notFound = document
    else responses.set(page.path, page.json ? negotiated(document, page.json(facts), security) : document)
    for (const [name, digest] of Object.entries(built.assets))
      responses.set(`/assets/${name}`, assetResponse(name, digest, security))
  }
  if (table === allPages && config.docsPage)
    responses.set('/llms.txt', documentResponse(llmsText(facts), pageHeaders({}), 'text/plain'))
  return {
    respond(method, path, headers) {
      const response = responses.get(path)
      if (!response) return undefined
      if (method === 'GET' || method === 'HEAD') return response(headers)
      return { status: 405, headers: [['Allow', 'GET, HEAD']], body: undefined }
    },
    respondNotFound(accept) {
      const page = namesHtml(accept) ? notFound?.({}) : undefined
      return page && { ...page, status: 404, headers: [...page.headers, ['Vary', 'Accept']] }
    },
  }
}

function factsOf(config: Config): HostFacts {
  const { environment, serviceName } = config
  const pages = { helper: config.helperPage, docs: config.docsPage }
  const facts = { environment, serviceName, origin: originOf(config), scopes: userScopes.names, pages }
  if (environment === 'live') return facts
  const startedAt = new Date(Date.now() - process.uptime() * 1000).toISOString()
  return { ...facts, process: { version: HOST_VERSION, startedAt } }
}

function documentResponse(
  body: string,
  security: PageResponse['headers'],
  mediaType: 'text/html' | 'text/plain' = 'text/html',
): HttpResponse {
  const headers: PageResponse['headers'] = [
    ...security,
    ['Content-Type', `${mediaType}; charset=utf-8`],
    ['Cache-Control', 'no-store'],
  ]
  return () => ({ status: 200, headers, body })
}

/** Responds with the document, or with `json` to clients that prefer it. */
function negotiated(document: HttpResponse, json: object, security: PageResponse['headers']): HttpResponse {
  const vary = ['Vary', 'Accept'] as const
  const headers: PageResponse['headers'] = [
    ...security,
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Cache-Control', 'no-store'],
    vary,
  ]
  const body = JSON.stringify(json)
  return asked => {
    if (prefersJson(asked.accept)) return { status: 200, headers, body }
    const response = document(asked)
    return { ...response, headers: [...response.headers, vary] }
  }
}

function assetResponse(name: string, digest: string, security: PageResponse['headers']): HttpResponse {
  const bodies = new Map<string, Buffer>()
  const mediaType = MEDIA_TYPES[name.split('.').at(-1) as string] ?? 'application/octet-stream'
  return ({ 'accept-encoding': accepted, 'if-none-match': known }) => {
    const [encoding, ending] = encodingFor(accepted)
    const tag = `"${digest}${ending}"`
    const headers: PageResponse['headers'] = [
      ...security,
      ['Content-Type', mediaType],
      ['Cache-Control', 'public, max-age=31536000, immutable'],
      ['ETag', tag],
      ['Vary', 'Accept-Encoding'],
    ]
    if (known?.includes(tag)) return { status: 304, headers, body: undefined }
    const body = bodies.get(ending) ?? readBuilt(`assets/${name}${ending}`)
    bodies.set(ending, body)
    return { status: 200, headers: encoding ? [...headers, ['Content-Encoding', encoding]] : headers, body }
  }
}

/** Returns the best encoding that a client accepts, and the file extension of that encoding. */
function encodingFor(accepted: string | string[] = ''): readonly [encoding: string, ending: string] {
  const names = String(accepted)
    .split(',')
    .filter(part => !/;\s*q=0(\.0*)?\s*$/.test(part))
    .map(part => part.split(';')[0]?.trim().toLowerCase())
  if (names.includes('br')) return ['br', '.br']
  return names.includes('gzip') ? ['gzip', '.gz'] : ['', '']
}
