// Somebody else responds while an existing handler pays: who, with what, and what the handler does then.
import { setImmediate as turn } from 'node:timers/promises'
import { createWorld, type Listening, type World } from '../world.ts'

/** Where the time-out is: around the server, before the guard, or between the guard and the handler. */
const PLACES = ['outside', 'before', 'after'] as const
export type Place = (typeof PLACES)[number]
/** What the handler does after the time-out has responded. */
const ENDS = ['throws', 'ends', 'never'] as const
type End = (typeof ENDS)[number]
const STATUSES = [408, 429, 400, 503] as const

/** One request, as the parts of a server see it. */
export interface Attempt {
  readonly place: Place
  readonly status: number
  /** Resolves when the time is up. */
  readonly timeUp: Promise<void>
  /** Pays, waits until the time-out has responded, and then ends as the case says: throws, never resolves, or resolves. */
  work(): Promise<void>
}

/** Starts a server with `POST /payments` behind `protectWrite`. Every time-out of the server responds to `attempt().timeUp` if it is at that place. */
export type StartPayments = (world: World, attempt: () => Attempt) => Promise<Listening>

/** The options of the write that the servers protect. */
export const payment = {
  scope: 'payments.write',
  spends: () => ({ amountCents: 5000, currency: 'USD' }),
} as const

/** What came of one case. */
export interface Outcome {
  readonly place: Place
  readonly end: End
  readonly status: number
  /** The payments that requests with one key made. */
  readonly paidPerKey: number
  /** The payments that passed under a cap for two. */
  readonly paidUnderCap: number
  /** The response to a repeat while the handler goes on, and after it has ended. */
  readonly repeat: string
  readonly afterEnd: string
}

interface Deferred {
  readonly promise: Promise<void>
  resolve(): void
}
function deferred(): Deferred {
  let resolve = (): void => {}
  const promise = new Promise<void>(given => {
    resolve = given
  })
  return { promise, resolve }
}

/** Runs all cases of one server. */
export async function outcomes(
  start: StartPayments,
  places: readonly Place[] = PLACES,
): Promise<readonly Outcome[]> {
  const given = createWorld()
  // A repeat does not wait for a handler that goes on.
  const world = { ...given, options: { ...given.options, idempotency: { waitMs: 0 } } }
  let current: Attempt
  const server = await start(world, () => current)
  const found: Outcome[] = []
  try {
    for (const place of places)
      for (const end of ENDS) for (const status of STATUSES) found.push(await oneCase({ place, end, status }))
  } finally {
    await server.close()
  }
  return found

  async function oneCase(given: { place: Place; end: End; status: number }): Promise<Outcome> {
    const { place, end, status } = given
    const name = `${place}-${end}-${status}`
    let paid = 0
    const ends: Deferred[] = []
    const attempt = async (account: string, key: string): Promise<string> => {
      const timeOut = deferred()
      const started = deferred()
      current = {
        place,
        status,
        timeUp: timeOut.promise,
        async work() {
          paid += 1
          const ended = deferred()
          ends.push(ended)
          started.resolve()
          await ended.promise
          if (end === 'throws') throw Object.assign(new Error('late'), { status: 422, statusCode: 422 })
          if (end === 'never') await new Promise(() => {})
        },
      }
      const response = fetch(`${server.url}/payments`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${await world.token('payments.write', account)}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: '{}',
      })
      await Promise.race([started.promise, response])
      timeOut.resolve()
      const { status: got, headers } = await response
      await turns()
      return `${got}${headers.has('idempotency-replayed') ? ' replay' : ''}`
    }
    await attempt(`key-${name}`, 'the-same-key')
    const repeat = await attempt(`key-${name}`, 'the-same-key')
    const paidPerKey = paid
    for (const each of ends.splice(0)) each.resolve()
    await turns()
    const afterEnd = await attempt(`key-${name}`, 'the-same-key')
    paid = 0
    for (const key of ['payment-0001', 'payment-0002', 'payment-0003']) await attempt(`cap-${name}`, key)
    for (const each of ends) each.resolve()
    await turns()
    return { place, end, status, paidPerKey, paidUnderCap: paid, repeat, afterEnd }
  }
}

async function turns(): Promise<void> {
  for (let n = 0; n < 8; n++) await turn()
}

/** Writes outcomes as rows of a table: payments of one key, payments under the cap for two, response to a repeat and after the end of the handler. */
export function table(server: string, found: readonly Outcome[]): readonly string[] {
  return found.map(({ place, end, status, paidPerKey, paidUnderCap, repeat, afterEnd }) =>
    [server, place, end, status, paidPerKey, paidUnderCap, repeat, afterEnd].join(' | '),
  )
}
