import { OutgoingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { NodeResponse } from './node-response.ts'

/** The functions of a Node response that read and change its header fields. */
const FIELD_FUNCTIONS = [
  'setHeader',
  'setHeaders',
  'appendHeader',
  'removeHeader',
  'getHeader',
  'getHeaders',
  'getHeaderNames',
  'hasHeader',
] as const
type FieldFunction = (...args: unknown[]) => unknown

/** The status and header fields that a handler sets after somebody else has responded. */
export interface LateResponse {
  readonly status: number
  fields(): OutgoingHttpHeaders
  /** Calls a function while the response is as it was. */
  suspended(work: () => void): void
  /** Stops keeping them apart. */
  close(): void
}

/**
 * Lets a handler set status and header fields of a response that somebody else has written, so that it ends as it would have. They are kept
 * apart, and not sent. `headersSent` still says what is true, so that a handler can ask it. Other code, such as a logger, sees the response that is sent.
 */
export function keepLate(response: NodeResponse, isInside: () => boolean): LateResponse {
  const fields = new OutgoingMessage()
  let status = 200
  let sentStatus = response.statusCode
  const own = fields as unknown as Record<string, FieldFunction>
  const target = response as unknown as Record<string, FieldFunction>
  const original = Object.fromEntries(
    FIELD_FUNCTIONS.flatMap(name => (typeof target[name] === 'function' ? [[name, target[name]]] : [])),
  )
  const kept = Object.fromEntries(
    Object.entries(original).map(([name, given]) => [
      name,
      (...args: unknown[]) => {
        if (!isInside()) return given.apply(response, args)
        const result = own[name]?.(...args)
        return result === fields ? response : result
      },
    ]),
  )
  const install = (): void => {
    sentStatus = response.statusCode
    Object.assign(response, kept)
    Object.defineProperty(response, 'statusCode', {
      configurable: true,
      enumerable: true,
      get: () => sentStatus,
      set(given: number) {
        if (isInside()) status = given
        else sentStatus = given
      },
    })
  }
  const uninstall = (): void => {
    Object.assign(response, original)
    delete (response as Partial<NodeResponse>).statusCode
    response.statusCode = sentStatus
  }
  install()
  return {
    get status() {
      return status
    },
    fields: () => fields.getHeaders(),
    close: uninstall,
    suspended(work) {
      uninstall()
      try {
        work()
      } finally {
        install()
      }
    },
  }
}
