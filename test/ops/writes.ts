import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { bearer, bootstrapUser, request } from '../harness/host.ts'
import type { AcknowledgedWrite, Attempt } from './judge.ts'

/** Where writes are sent. */
export interface Target {
  readonly name: string
  readonly url: string
}

/** Clients that write money all the time, each with an account of its own. */
export interface Writers {
  readonly attempts: readonly Attempt[]
  readonly acknowledged: readonly AcknowledgedWrite[]
  /** Stops new writes, and waits until each that was begun has succeeded. Rejects where one has not in 2 minutes. */
  stop(): Promise<void>
  /** The ids of all writes that are stored now, as the API lists them. */
  stored(): Promise<readonly string[]>
}

interface Writer {
  readonly token: string
}

const PAUSE_MS = 100
/** How long a client waits for a response. Above every limit of a host. */
const CLIENT_LIMIT_MS = 30_000

/**
 * Starts so many clients. Each sends a deposit of one cent to the targets in turn, again under the same idempotency key at the next target
 * until it succeeds, as a client does that must not lose money.
 */
export async function startWriters(count: number, targets: readonly Target[]): Promise<Writers> {
  const [first] = targets as [Target]
  const users: Writer[] = []
  for (let n = 0; n < count; n += 1)
    users.push(
      await bootstrapUser((path, options) => request(first.url, path, options), {
        sessionTtlSeconds: 86_400,
      }),
    )
  const attempts: Attempt[] = []
  const acknowledged: AcknowledgedWrite[] = []
  const stopping = new AbortController()
  let giveUpAt = Infinity
  const send = async (user: Writer, key: string, target: Target): Promise<string | undefined> => {
    const sentAt = performance.now()
    const response = await deposit(user, key, target).catch(() => undefined)
    const endedAt = performance.now()
    const status = response === undefined ? {} : { status: response.status }
    attempts.push({ host: target.name, sentAt, endedAt, ...status })
    return response?.id
  }
  const write = async (user: Writer, from: number): Promise<void> => {
    const key = randomUUID()
    for (let at = from; ; at += 1) {
      const id = await send(user, key, targets[at % targets.length] as Target)
      if (id !== undefined) return void acknowledged.push({ id, acknowledgedAt: performance.now() })
      if (performance.now() > giveUpAt) throw new Error('a write has not succeeded for 2 minutes')
      await sleep(PAUSE_MS)
    }
  }
  const run = async (user: Writer, at: number): Promise<void> => {
    for (let n = at; !stopping.signal.aborted; n += 1) {
      await write(user, n)
      await sleep(PAUSE_MS)
    }
  }
  const running = Promise.all(users.map(run))
  running.catch(() => {})
  return {
    attempts,
    acknowledged,
    async stop() {
      giveUpAt = performance.now() + 120_000
      stopping.abort()
      await running
    },
    stored: async () => (await Promise.all(users.map(user => storedOf(user, first)))).flat(),
  }
}

async function deposit(
  { token }: Writer,
  key: string,
  { url }: Target,
): Promise<{ readonly status: number; readonly id: string | undefined }> {
  const response = await fetch(`${url}/user/v1/deposits`, {
    method: 'POST',
    headers: { ...bearer(token), 'idempotency-key': key, 'content-type': 'application/json' },
    body: '{"amountCents":1}',
    signal: AbortSignal.timeout(CLIENT_LIMIT_MS),
  })
  const body = (await response.json()) as { readonly data?: { readonly deposit: { readonly id: string } } }
  return { status: response.status, id: response.status === 200 ? body.data?.deposit.id : undefined }
}

/** The ids of the deposits of an account: each makes one transaction, so one that counted twice is listed twice. */
async function storedOf({ token }: Writer, { url }: Target): Promise<readonly string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const path = `/user/v1/transactions?limit=100${query}`
    const { status, body } = await request(url, path, { headers: bearer(token) })
    if (status !== 200) throw new Error(`transactions: ${status} ${JSON.stringify(body)}`)
    const transactions = body.data['transactions'] as readonly { readonly source: { readonly id: string } }[]
    ids.push(...transactions.map(({ source }) => source.id))
    cursor = body.data['nextCursor'] as string | null
  } while (cursor !== null)
  return ids
}
