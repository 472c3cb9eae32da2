import { rows, type SqlClient } from '@gatewright/kernel/sql'
import { toText } from '@gatewright/kernel/internal/sql'
import type { Page } from 'playwright-core'
import type { TestWallet } from './browser-wallets.ts'
import { heading } from './helper-page.ts'
import { bearer, newWallet, type TestHost } from '../../../harness/host.ts'
import { moneyUser, type MoneyUser } from '../money.ts'
import { webToken } from '../web-sign-in.ts'

/** Opens a page of the console by its link in the navigation. */
export async function openTab(page: Page, name: string): Promise<void> {
  await page
    .getByRole('navigation', { name: 'Your account' })
    .getByRole('link', { name, exact: true })
    .click()
  await heading(page, name)
}

/** Waits until nothing of the page is being loaded any more. */
export function loaded(page: Page): Promise<void> {
  return page.locator('[aria-busy]').first().waitFor({ state: 'detached' })
}

/** Chooses an entry of the menu of a key, on the page of keys. Without a name, of the first key. */
export async function chooseForKey(page: Page, entry: string, name?: string): Promise<void> {
  const label = name === undefined ? /^Actions of key/ : `Actions of key ${name}`
  await page.getByLabel(label).first().click()
  await page.getByRole('main').getByRole('button', { name: entry, exact: true }).click()
}

/** A program of an account: what a key of the account's wallet can do over HTTP. */
export interface Program extends MoneyUser {
  readonly keyId: string
  readonly key: string
  readonly token: string
}

/** Makes a root key of a wallet with a session, as a program has it. */
export async function programOf(
  { send }: Pick<TestHost, 'send'>,
  { account }: Pick<TestWallet, 'account'>,
  policy?: object,
): Promise<Program> {
  const token = await webToken(send, account)
  const body = policy === undefined ? {} : { policy }
  const made = await send('/identity/user-api-keys', { body, headers: bearer(token) })
  if (made.status !== 200) throw new Error(JSON.stringify(made.body))
  const key = made.body['userApiKey'] as string
  const session = await send('/user/v1/sessions', {
    body: { ttlSeconds: 86_400 },
    headers: { 'x-user-key': key },
  })
  const sessionToken = session.body['sessionToken'] as string
  return {
    keyId: made.body['userKeyId'] as string,
    key,
    token: sessionToken,
    ...moneyUser(send, { token: sessionToken }),
  }
}

/** Spends by card, by payments and for bills, so that a console has something of everything. */
export async function spendSome({ send }: Pick<TestHost, 'send'>, program: Program): Promise<void> {
  const payee = newWallet()
  await webToken(send, payee)
  const done = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const response = await program.write(path, body)
    if (response.status !== 200) throw new Error(`${path}: ${JSON.stringify(response.body)}`)
    return response.body.data
  }
  await program.fund(100_000)
  const { card } = (await done('/cards', { limit: { amount: 50_000, frequency: 'per30DayPeriod' } })) as {
    card: { id: string }
  }
  await done('/sandbox/authorizations', { cardId: card.id, amountCents: 1250 })
  await done('/sandbox/authorizations', { cardId: card.id, amountCents: 990 })
  await done('/payments', { to: { walletAddress: payee.address }, amountCents: 2000 })
  const { bill } = (await done('/bills', { payee: 'City Power', amountCents: 420, dueAt: '2030-01-01' })) as {
    bill: { id: string }
  }
  await done(`/bills/${bill.id}/pay`, {})
}

/** Writes transactions of an account past the host: `count` of them, back over `days` days. */
export async function writeTransactions(
  db: SqlClient,
  accountId: string,
  { count, days }: { readonly count: number; readonly days: number },
): Promise<void> {
  const now = Date.now()
  const text = `with recursive n(at) as (select 1 union all select at + 1 from n where at < $1)
    insert into gw_transactions (id, account_id, source_kind, source_id, part, type, status, amount_cents,
      direction, description, created_at, updated_at)
    select 'txn_of_test_' || at, $2, case at % 5 when 0 then 'payment' when 1 then 'bill' when 2 then 'payin'
        when 3 then 'withdrawal' else 'authorization' end, 'source_of_test_' || at, '', 'payment',
      case when at % 17 = 0 then 'failed' else 'completed' end, 100 + (at * 7919) % 4000, 'debit',
      'Payment ' || at, $3 - ($1 - at) * $4, $3 - ($1 - at) * $4
    from n order by at`
  const step = Math.floor((days * 86_400_000) / count)
  await db.transaction(tx => rows(tx, text, [count, accountId, now, step]))
}

/** The account of a wallet, for rows that are written past the host. */
export async function accountOf(db: SqlClient, { address }: { readonly address: string }): Promise<string> {
  const text = 'select account_id from gw_users where wallet_address = $1'
  const [row] = await rows(db, text, [address.toLowerCase()])
  return toText(row?.['account_id'])
}

/** Whether a token is denied within 5 seconds. The guard reads of ended sessions within one. */
export async function ends(host: Pick<TestHost, 'send'>, token: string): Promise<boolean> {
  for (let n = 0; n < 100; n++) {
    if ((await host.send('/user/v1/users', { headers: bearer(token) })).status === 401) return true
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return false
}
