// What the tests of refusals share: servers of every framework with the same options, and requests as bytes, since `fetch` can neither
// send a field twice nor leave a space at the end of one.
import { request } from 'node:http'
import { Controller, Get, Post, type Type } from '@nestjs/common'
import type { GatewrightOptions, ReadRequest, WriteRequest } from 'gatewright'
import { Accepted, Read, Write } from 'gatewright/nest'
import { decorate, startNest } from './nest-app.ts'
import { read, writeAmount } from './operations.ts'
import { SERVERS } from './servers.ts'
import type { Start } from './suite.ts'
import type { World } from './world.ts'

/** A controller of Nest with the write and the read that the tests of refusals call. */
function paymentsOf({ processor }: World): Type {
  class Payments {
    async pay({ body, effectId }: WriteRequest<{ amountCents: number }>) {
      await processor.pay(body.amountCents, effectId)
      return { id: effectId, ...body }
    }
    find({ params, session }: ReadRequest<unknown, { id: string }>) {
      return { ...params, owner: session.accountId }
    }
  }
  Controller()(Payments)
  decorate(Payments, 'pay', [Post('payments'), Write('payments.create', writeAmount)], [Accepted()])
  decorate(Payments, 'find', [Get('payments/:id'), Read('payments.read', read)], [Accepted()])
  return Payments
}

/** A server of each binding. */
export const BINDINGS: Readonly<Record<string, Start>> = {
  ...SERVERS,
  Nest: world => startNest(world, [paymentsOf(world)]),
}

/** Adds options of a gateway to those of a world. */
export const withOptions = (world: World, options: Partial<GatewrightOptions>): World => ({
  ...world,
  options: { ...world.options, ...options } as World['options'],
})

/** A request as its fields are written; a field may be named twice. */
export interface Sent {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly body?: string
}

export interface Received {
  readonly status: number
  readonly type: string | undefined
  readonly challenge: string | undefined
  readonly retryAfter: string | undefined
  readonly text: string
}

/** Sends a request with exactly these fields. */
export function send(base: string, { method, path, fields, body = '' }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base)
    const headers = [...fields, ['Host', `${hostname}:${port}`], ['Content-Length', String(body.length)]]
    const sent = request({ hostname, port, method, path, headers: headers.flat() }, response => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => {
        const {
          'content-type': type,
          'www-authenticate': challenge,
          'retry-after': retryAfter,
        } = response.headers
        resolve({ status: response.statusCode ?? 0, type, challenge, retryAfter, text })
      })
    })
    sent.on('error', reject).end(body)
  })
}
