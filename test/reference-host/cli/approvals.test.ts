// An owner decides about payments on the command line.
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host'
import t from 'tap'
import { bearer, openTestHost } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'
import { keyBelow } from '../harness/card-payments.ts'
import { newMoneyUser } from '../harness/money.ts'

const folder = temporaryFolder(t)
const env = { XDG_CONFIG_HOME: folder }
const host = await openTestHost(t, { RATE_LIMITS: 'off' })
const { send } = host
const owner = await newMoneyUser(send)
const shop = await newMoneyUser(send)
await owner.fund(100_000)
const agent = await keyBelow(send, owner.token, { approveAboveCents: 5000 })

/** Logs the commands in with a key. */
function logIn(key: string): void {
  mkdirSync(join(folder, 'gatewright'), { recursive: true })
  const login = { host: host.url, keyId: 'of-the-login', key, walletAddress: null }
  writeFileSync(join(folder, 'gatewright', 'login.json'), JSON.stringify(login))
}

const run = async (...args: string[]) => {
  const { code, out, problem } = await runCommand(['approvals', ...args], { env, ask: undefined })
  return { code, output: `${out}${problem}` }
}

const pay = (key: string) =>
  send('/user/v1/payments', {
    body: { to: { walletAddress: shop.address }, amountCents: 6000 },
    headers: { ...bearer(agent.token), 'idempotency-key': key },
  })

t.test('asks to log in first', async t => {
  t.match(await run('list'), { code: 1, output: /^You are not logged in: run npx gatewright login HOST/ })
})

t.test('lists what waits, with the name of the key, and approves after a question', async t => {
  logIn(owner.key)
  t.match(await run('list'), {
    code: 0,
    output:
      /^No payment waits for you here\. Those of this login's own key are at http:\S+\/helper#\/approvals$/,
  })
  const key = randomUUID()
  const id = String((await pay(key)).body['approvalId'])
  t.match(await run('list'), {
    code: 0,
    output: new RegExp(
      `^${id} +pending +6000 .* payments\\.create .*\\nDecide with npx gatewright approvals`,
      'm',
    ),
  })
  t.match(await run('approve', id), {
    code: 2,
    output:
      /approve needs --yes .* Approve payments\.create of 60\.00 USD to \S+.*, which the key \S+ asks for until/,
  })
  t.match(await run('approve', id, '--yes'), { code: 0, output: /^Approved: .* same Idempotency-Key\.$/ })
  t.match(JSON.parse((await run('list', '--json')).output), [{ id, state: 'approved' }])
  t.match(await pay(key), { status: 200 })
  t.match(await run('approve', id, '--yes'), {
    code: 1,
    output:
      /waits for this login: it was denied or made, .*\nSee npx gatewright approvals list, and http:\S+\/helper#\/approvals/,
  })
})

t.test('denies, and prints the approval as JSON', async t => {
  const key = randomUUID()
  const id = String((await pay(key)).body['approvalId'])
  const denied = await run('deny', id, '--json')
  t.match(JSON.parse(denied.output), { id, state: 'denied' })
  t.match(await pay(key), { body: { error: 'approval_denied' } })
  t.match(await run('deny', id), { code: 1, output: /it was denied or made/ })
})

t.test('a login that may not decide is told how to get one that may', async t => {
  const made = await send('/user/v1/keys', {
    body: { scopes: ['payments.read', 'keys.read'] },
    headers: bearer(owner.token),
  })
  logIn(made.body['userApiKey'] as string)
  for (const args of [['list'], ['approve', 'apr_x', '--yes'], ['deny', 'apr_x']])
    t.match(await run(...args), {
      code: 1,
      output:
        /Log in with npx gatewright login http:\S+ --scopes approvals\.write, or decide at http:\S+\/helper#\/approvals/,
    })
})
