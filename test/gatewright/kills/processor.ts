import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import type { LostRun } from '#packages/idempotency-store/dist/options.js'
import type { RecoveryResult, StoredResponse } from '@gatewright/idempotency-store'

/** What a processor has paid. */
interface Payment {
  readonly effectId: string
  readonly cents: number
}

/**
 * Makes a payment processor that outlives the servers. It compares no keys, so a payment that is requested twice is paid twice.
 * `POST /effectId` with an amount pays it, or declines one above `mostCents`; `GET /effectId` returns what was paid.
 */
export function createProcessor(mostCents: number) {
  const payments: Payment[] = []
  const server = createServer(async (request, response) => {
    const effectId = request.url?.slice(1) ?? ''
    if (request.method === 'GET') {
      response.end(`${sum(payments.filter(payment => payment.effectId === effectId))}`)
      return
    }
    const cents = Number(await text(request))
    if (cents <= mostCents) payments.push({ effectId, cents })
    response.end(cents <= mostCents ? 'paid' : 'declined')
  })
  return { server, payments }
}

/** Adds up payments. */
export const sum = (payments: readonly Payment[]): number =>
  payments.reduce((total, { cents }) => total + cents, 0)

/** The body of the response to a payment. */
type BodyOf = (effectId: string) => object

/** Asks the processor for the outcome of a lost run. Undefined: it paid nothing, and its server is dead, so it will not. */
export async function responseOf(
  processor: string,
  effectId: string,
  bodyOf: BodyOf = id => ({ id }),
): Promise<StoredResponse | undefined> {
  const cents = Number(await (await fetch(`${processor}/${effectId}`)).text())
  if (cents === 0) return undefined
  return {
    status: 201,
    headers: [['content-type', 'application/json']],
    body: JSON.stringify(bodyOf(effectId)),
    spends: [{ amountCents: cents, currency: 'USD' }],
  }
}

/** Makes the option `recover` of a server. */
export function recoverBy(processor: string, bodyOf?: BodyOf): (run: LostRun) => Promise<RecoveryResult> {
  return async ({ effectId }) => {
    const response = await responseOf(processor, effectId, bodyOf)
    return response ? { state: 'completed', response } : { state: 'never_happened' }
  }
}
