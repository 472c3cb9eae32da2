import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy before a host that passes everything on but payments, which it can disturb. */
export interface CuttingProxy {
  readonly url: string
  /** The idempotency keys of the payments so far. */
  readonly keys: (string | undefined)[]
  /** `response`: the host makes the payment, and its response breaks off. `denied`: the proxy denies it, and the host gets nothing. `null`: the response is `null`. */
  disturbs: 'response' | 'denied' | 'null' | undefined
  /** Runs once, after the host has made a payment and before the proxy responds. */
  meanwhile: (() => Promise<void>) | undefined
  /** Whether connections are cut before the host gets a request. */
  isDown: boolean
  close(): Promise<void>
}

/** Starts the proxy on a free port of loopback. */
export async function cuttingProxy(target: string): Promise<CuttingProxy> {
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (proxy.isDown) {
      request.destroy()
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const {
      'x-user-key': key,
      'x-partner-key': partnerKey,
      authorization,
      'idempotency-key': idempotencyKey,
    } = request.headers
    const isPayment = request.url === '/user/v1/payments'
    const { disturbs } = proxy
    if (isPayment) proxy.keys.push(idempotencyKey as string | undefined)
    if (isPayment && disturbs === 'denied') {
      response.writeHead(403, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ success: false, error: 'forbidden', message: 'Denied\u001b[2K\u202e\nPaid' }),
      )
      return
    }
    const method = request.method ?? 'GET'
    const reply = await fetch(target + request.url, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { 'x-user-key': String(key) }),
        ...(partnerKey === undefined ? {} : { 'x-partner-key': String(partnerKey) }),
        ...(authorization === undefined ? {} : { authorization }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': String(idempotencyKey) }),
      },
      ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
    })
    const whole = Buffer.from(await reply.arrayBuffer())
    const body = isPayment && disturbs === 'null' ? Buffer.from('null') : whole
    if (isPayment) {
      const { meanwhile } = proxy
      proxy.meanwhile = undefined
      await meanwhile?.()
    }
    response.writeHead(reply.status, { 'content-type': 'application/json', 'content-length': body.length })
    if (isPayment && disturbs === 'response') {
      response.write(body.subarray(0, body.length / 2), () => response.destroy())
      return
    }
    response.end(body)
  }
  const server = createServer((request, response) => void pass(request, response))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: [],
    disturbs: undefined,
    meanwhile: undefined,
    isDown: false,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return proxy
}
