import { createHash, timingSafeEqual } from 'node:crypto'
import { deny, type OperatorDenial } from './codes.ts'

/** The parts of a request to the operator listener that are checked. */
interface OperatorRequest {
  readonly method: string
  header(name: string): string | undefined
}

/**
 * Decides who may use the operator listener. The client's address is not checked, because every client seems to be on this
 * machine.
 */
export interface OperatorAccess {
  /**
   * Denies a request that came by another name than this machine's (DNS rebinding), through a proxy, or from a page of another
   * origin. Call it for every request.
   */
  wrongPlace(request: OperatorRequest): OperatorDenial | undefined
  /** Denies a request without the operator token. Call it for every figure and every write. */
  wrongToken(request: OperatorRequest): OperatorDenial | undefined
}

/** The names of this machine under which the listener is reached. */
const NAMES = ['127.0.0.1', 'localhost', '[::1]']
/** Header fields that a proxy adds. The listener must not be reached through one: it would seem to be on this machine. */
const PROXY_FIELDS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
]

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Makes the checks of a listener on `port`. Keeps only a digest of the token. */
export function operatorAccess(token: string, port: () => number): OperatorAccess {
  const expected = digestOf(token)
  return {
    wrongPlace({ method, header }) {
      const host = header('host') ?? ''
      if (!NAMES.some(name => host === `${name}:${port()}`))
        return deny('wrong_host', `this listener answers to 127.0.0.1:${port()} and localhost:${port()} only`)
      if (PROXY_FIELDS.some(name => header(name) !== undefined))
        return deny(
          'behind_proxy',
          'this listener answers no proxy: connect to it directly, or by an SSH tunnel',
        )
      const origin = header('origin')
      const ownOrigin = `http://${host}`
      // Browsers send an origin with every POST. A page of another port of this machine has another origin, too.
      if (origin === undefined ? method !== 'GET' && method !== 'HEAD' : origin !== ownOrigin)
        return deny(
          'wrong_origin',
          'only the operator page itself may ask: its origin is that of this listener',
        )
      return undefined
    },
    wrongToken({ header }) {
      const site = header('sec-fetch-site')
      if (site !== undefined && site !== 'same-origin')
        return deny(
          'wrong_origin',
          'only the operator page itself may ask: its origin is that of this listener',
        )
      const [, given = ''] = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header('authorization') ?? '') ?? []
      // The digests have one length, so the comparison reveals nothing about the token.
      if (!timingSafeEqual(digestOf(given), expected))
        return deny('unauthorized', 'send the operator token as Authorization: Bearer')
      return undefined
    },
  }
}
