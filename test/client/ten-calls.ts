import { createClient, GatewrightError, type Client } from '@gatewright/client'
import * as user from '@gatewright/client/user'

/** Where the calls go, for whom, and whom they pay. */
export interface TenCalls {
  readonly url: string
  readonly userKey: string
  readonly payee: string
}

/** What ten calls returned, in their order. The same on every runtime. */
export interface TenResults {
  readonly wallet: string | null
  readonly balances: readonly number[]
  readonly replayed: readonly boolean[]
  readonly samePayment: boolean
  readonly blocked: string
  readonly amounts: readonly number[]
  readonly revoked: string
}

/** Ten calls of a client: what a program of a user does with money. It uses nothing that only one runtime has. */
export async function tenCalls({ url, userKey, payee }: TenCalls): Promise<TenResults> {
  const client = createClient({ url, credential: { userKey } })
  const me = await client.call(user.usersRead)
  await client.call(user.depositsCreate, { body: { amountCents: 10_000 } })
  const before = await available(client)
  const key = await client.call(user.keysCreate, {
    body: { label: 'ten calls', policy: { maxAuthAmountCents: 1000 } },
  })
  const limited = createClient({ url, credential: { userKey: key.data.userApiKey } })
  const small = { to: { walletAddress: payee }, amountCents: 700, memo: 'ten calls' }
  const idempotencyKey = `ten-calls-${key.data.userKeyId}`
  const paid = await limited.call(user.paymentsCreate, { body: small, idempotencyKey })
  const again = await limited.call(user.paymentsCreate, { body: small, idempotencyKey })
  const blocked = await limited
    .call(user.paymentsCreate, { body: { ...small, amountCents: 1001 } })
    .catch(ruleOf)
  const amounts: number[] = []
  for await (const { amountCents } of client.items(user.transactionsList, { query: { limit: 1 } }))
    amounts.push(amountCents)
  await client.call(user.keysRevoke, { params: { keyId: key.data.userKeyId } })
  // A new client, which has no session of the key yet.
  const late = createClient({ url, credential: { userKey: key.data.userApiKey } })
  const revoked = await late.call(user.balancesRead).catch(codeOf)
  return {
    wallet: me.data.user.walletAddress,
    balances: [before, await available(client)],
    replayed: [paid.replayed, again.replayed],
    samePayment: paid.data.payment.id === again.data.payment.id,
    blocked: typeof blocked === 'string' ? blocked : 'paid',
    amounts,
    revoked: typeof revoked === 'string' ? revoked : 'read',
  }
}

async function available(client: Client): Promise<number> {
  const { data } = await client.call(user.balancesRead)
  return data.balances[0]?.availableCents ?? 0
}

function ruleOf(error: unknown): string {
  if (error instanceof GatewrightError && error.problem.code === 'policy_blocked') return error.problem.rule
  throw error
}

function codeOf(error: unknown): string {
  if (error instanceof GatewrightError) return error.problem.code
  throw error
}
