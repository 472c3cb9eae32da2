// Callers of a host that is paid on a chain: a wallet under policies as heavy as allowed, a partner's user, and anybody new.
import { randomUUID } from 'node:crypto'
import type { SqlClient } from '@gatewright/kernel/sql'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { bearer, bootstrapUser, newWallet, signedBootstrap, type HttpResponse } from '../../harness/host.ts'
import { startPaidHost } from '../harness/paid-host.ts'
import { memberOf } from '../harness/transfers.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatewright-bounds-'))
const env = { DATA_DIR: folder, RATE_LIMITS: 'off', CHAIN_POLL_SECONDS: '300' }
const paid = await startPaidHost({}, env)
export const { host, clock } = paid
const database = openDatabaseOf(env)
/** The database of the host. */
export const db: SqlClient = database.db
/** Stops the host and its chain. */
export async function close(): Promise<void> {
  await database.close()
  await paid.close()
  rmSync(folder, { recursive: true, force: true })
}
export const { send } = host

/** A policy of nearly 8 KiB with 16 limits that count every call: 16 counters of its own. */
export function heavyPolicy(name: string): object {
  const tags = [
    'subscriptions',
    'contracts',
    'deposits',
    'payments',
    'bills',
    'cards',
    'folders',
    'withdrawals',
  ]
  const limits = Array.from({ length: 16 }, (_, index) => ({
    operations: [
      ...tags.map(tag => `${tag}.*`),
      ...Array.from(
        { length: 8 },
        (_, n) => `${name}${'abcdefghijklmnop'[index]}.${'p'.repeat(24)}${'abcdefgh'[n]}`,
      ),
    ],
    window: 'total',
    ...(index % 2 === 0 ? { maxCount: 1_000_000 } : { maxCents: 100_000_000_000 }),
  }))
  return { limits }
}
export const ok = (response: HttpResponse): HttpResponse => {
  if (response.status > 202) throw new Error(`${response.status}: ${JSON.stringify(response.body)}`)
  return response
}
/** A policy of nearly 8 KiB that counts nothing. */
export const longPolicy = {
  denyOperations: Array.from({ length: 95 }, (_, n) =>
    `unknown.${'o'.repeat(66)}${n}`.replaceAll(/[0-9]/g, digit => 'abcdefghij'[Number(digit)] as string),
  ),
}
export type Call = (
  path: string,
  body?: object,
  options?: { method?: string; headers?: Record<string, string> },
) => Promise<HttpResponse>
const caller =
  (surface: string, proof: Record<string, string>): Call =>
  (path, body, { method, headers } = {}) =>
    send(/^\/(?:auth|access)\//.test(path) ? path : `/${surface}/v1${path}`, {
      method: method ?? 'POST',
      headers: { 'idempotency-key': randomUUID(), ...proof, ...headers },
      ...(body === undefined ? {} : { body }),
    })
/** Opens the callers. */
async function openCallers() {
  const wallet = newWallet()
  const policies = { policy: heavyPolicy('key'), sessionPolicy: heavyPolicy('session') }
  const statement = await signedBootstrap(wallet, { sessionTtlSeconds: 86_400, ...policies }, clock.now())
  const booted = ok(await send('/user/v1/bootstrap', { body: statement })).body
  const key = booted['userApiKey'] as string
  /** A session under three policies of nearly 8 KiB: a fourth still fits. 32 counters count each of its calls that spends. */
  const minted = await send('/user/v1/sessions', {
    body: { policy: longPolicy, ttlSeconds: 86_400 },
    headers: bearer(booted['sessionToken'] as string),
  })
  const token = ok(minted).body['sessionToken'] as string

  const user = caller('user', bearer(token))
  const partnerKey = { 'x-partner-key': host.partnerKey }
  const partnerUserId = randomUUID()
  await send('/partner/v1/users/resolve', { body: { userId: partnerUserId }, headers: partnerKey })
  const partnerScopes = [
    'users.read',
    'users.write',
    'kyc.read',
    'kyc.write',
    'cards.read',
    'cards.write',
    'cards.secrets.read',

    'encryption.read',
    'encryption.write',
    'deposits.read',
    'deposits.write',
    'transactions.read',
    'withdrawals.write',
  ]
  const opened = await send('/partner/v1/sessions', {
    headers: partnerKey,
    body: { userId: partnerUserId, scopes: partnerScopes, ttlSeconds: 86_400 },
  })
  const partner = caller('partner', bearer(opened.body.data['sessionToken'] as string))
  const newUser = () => bootstrapUser(send, {}, clock.now())
  const friend = (await newUser()).address
  /** Somebody new, whose identity is not checked yet. */
  const somebody = {
    user: async (): Promise<Call> => caller('user', bearer((await newUser()).token)),
    partner: async (): Promise<Call> => {
      const userId = randomUUID()
      await send('/partner/v1/users/resolve', { body: { userId }, headers: partnerKey })
      const session = await send('/partner/v1/sessions', {
        body: { userId, scopes: partnerScopes },
        headers: partnerKey,
      })
      return caller('partner', bearer(session.body.data['sessionToken'] as string))
    },
  }
  for (const call of [user, partner]) ok(await call('/sandbox/kyc', { status: 'approved' }))
  ok(await user('/deposits', { amountCents: 100_000_000 }))
  ok(await partner('/agreements', { accepted: true }))
  const funding = memberOf(await partner('/deposits', { currency: 'usdc', network: 'base' }), 'deposit')
  ok(await partner(`/sandbox/deposits/${funding.id}/pay`, { amount: '5000' }))
  return { wallet, key, user, partner, partnerKey, partnerUserId, partnerScopes, friend, somebody }
}

// Without its callers the host must not keep the process running.
const callers = await openCallers().catch(async (error: unknown) => {
  await close()
  throw error
})
export const { wallet, key, user, partner, partnerKey, partnerUserId, partnerScopes, friend, somebody } =
  callers
