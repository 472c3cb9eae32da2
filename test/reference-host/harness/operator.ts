import { randomBytes } from 'node:crypto'
import { request as httpRequest } from 'node:http'
import type { Clock } from '@gatewright/kernel'
import { startTestHost, type TestHost } from '../../harness/host.ts'

/** A token for the operator page, a new one in each process. */
export const OPERATOR_TOKEN = randomBytes(24).toString('hex')

/** A response of the operator listener. */
export interface OperatorResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Readonly<Record<string, unknown>>
}

/** A test host with the operator page. */
export interface OperatedHost extends TestHost {
  readonly operatorUrl: string
  /** Sends a request to the operator listener as its page does; header fields replace those of the page, undefined leaves one out. */
  ask(path: string, options?: OperatorRequestOptions): Promise<OperatorResponse>
}

interface OperatorRequestOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** Starts a host with the operator page on a free port. */
export async function startOperatedHost(
  env: Record<string, string> = {},
  clock?: Clock,
): Promise<OperatedHost> {
  const operator = { OPERATOR_PAGE: 'on', OPERATOR_PORT: '0', OPERATOR_TOKEN }
  const host = await startTestHost({ ...operator, ...env }, clock)
  const operatorUrl = host.operatorUrl as string
  const { origin, hostname, port, host: name } = new URL(operatorUrl)
  return {
    ...host,
    operatorUrl,
    ask: (path, { method, headers = {}, body } = {}) => {
      const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
      const all = {
        host: name,
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        ...(text === undefined
          ? {}
          : { origin, 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(text)}` }),
        ...headers,
      }
      const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
      return send(
        { hostname, port, path, method: method ?? (text === undefined ? 'GET' : 'POST') },
        sent,
        text,
      )
    },
  }
}

function send(
  target: {
    readonly hostname: string
    readonly port: string
    readonly path: string
    readonly method: string
  },
  headers: Readonly<Record<string, string | undefined>>,
  text: string | undefined,
): Promise<OperatorResponse> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ ...target, headers, agent: false }, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => {
        const all = Buffer.concat(chunks).toString()
        const isJson = response.headers['content-type']?.startsWith('application/json') === true
        const body = (isJson ? JSON.parse(all) : { text: all }) as OperatorResponse['body']
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body })
      })
    })
    asked.once('error', reject)
    asked.end(text)
  })
}
