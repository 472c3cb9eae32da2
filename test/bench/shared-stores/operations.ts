import { randomUUID } from 'node:crypto'
import { cardUser } from '../../reference-host/harness/card-payments.ts'
import { bearer, bootstrapUser, request, type TestHost } from '../../harness/host.ts'
import { withdrawalBody } from '../../reference-host/harness/transfers.ts'
import type { Request } from '../load.ts'

/** A user with money, a card, a key and a session. */
export interface Spender {
  readonly key: string
  readonly token: string
  readonly cardId: string
  /** The wallet that payments of this user go to: that of the user opened before. */
  readonly payee: string
}

/** The operations that are measured on shared stores, each made by one user after the other. */
export const OPERATIONS: Readonly<Record<string, (user: Spender) => Request>> = {
  mint: ({ key }) => ({
    path: '/user/v1/sessions',
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user-key': key },
    body: '{}',
  }),
  'pay-in': user => write(user, '/subscriptions/payin', { amountCents: 2500 }),
  authorization: user => write(user, '/sandbox/authorizations', { cardId: user.cardId, amountCents: 1 }),
  payment: user => write(user, '/payments', { to: { walletAddress: user.payee }, amountCents: 1 }),
  withdrawal: user => write(user, '/withdrawals', withdrawalBody(100)),
}

function write({ token }: Spender, path: string, body: object): Request {
  return {
    path: `/user/v1${path}`,
    method: 'POST',
    headers: { ...bearer(token), 'content-type': 'application/json', 'idempotency-key': randomUUID() },
    body: JSON.stringify(body),
  }
}

/** Opens accounts with play money and a card. */
export async function openSpenders(url: string, count: number): Promise<readonly Spender[]> {
  const send: TestHost['send'] = (path, options) => request(url, path, options)
  const spenders: Spender[] = []
  let { address: payee } = await bootstrapUser(send)
  while (spenders.length < count) {
    const { key, token, address } = await bootstrapUser(send, { sessionTtlSeconds: 86_400 })
    const user = cardUser(send, token)
    await user.fund(100_000)
    spenders.push({ key, token, cardId: await user.card(), payee })
    payee = address
  }
  return spenders
}
