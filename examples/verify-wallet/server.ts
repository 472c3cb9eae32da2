// A node:http server with one operation: POST / with a signed statement returns who signed it. Nothing else of
// Gatewright is needed.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { Fault } from '@gatewright/kernel'
import { addressBucket } from '@gatewright/kernel/address'
import { createVerifier, fastestRecover, type Verifier } from '@gatewright/signature-verifier'
import { memoryNonces } from '@gatewright/signature-verifier/memory'

const MAX_BODY_BYTES = 65_536

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return undefined
  }
}

interface HttpResponse {
  readonly status: number
  readonly body: object
  readonly retryAfterSeconds?: number | undefined
}

/** A verdict or a fault as an HTTP response. `reason` stays here: it is for the log. */
async function reply(verifier: Verifier, proof: unknown, address: string): Promise<HttpResponse> {
  try {
    const verdict = await verifier.verify((proof ?? {}) as Record<string, unknown>, {
      addressBucket: addressBucket(address),
    })
    if (verdict.ok) return { status: 200, body: verdict.value }
    const { status, code: error, message, field, retryAfterSeconds } = verdict
    return { status, body: { error, message, field }, retryAfterSeconds }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const body = { error: 'service_unavailable', message: 'Try again.' }
    return { status: 503, body, retryAfterSeconds: error.retryAfterSeconds }
  }
}

/** Makes the server; the caller listens and closes. */
export async function walletServer(service: string): Promise<Server> {
  const { recover, keccak256 } = await fastestRecover()
  const verifier = createVerifier({ service, nonces: memoryNonces(), recover, keccak256 })
  return createServer((request, response) => {
    void readJson(request)
      .then(proof => reply(verifier, proof, request.socket.remoteAddress ?? ''))
      .catch(
        (): HttpResponse => ({
          status: 500,
          body: { error: 'internal_error', message: 'Something is broken.' },
        }),
      )
      .then(({ status, body, retryAfterSeconds }) => {
        if (retryAfterSeconds !== undefined) response.setHeader('Retry-After', retryAfterSeconds)
        response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
        return undefined
      })
  })
}
