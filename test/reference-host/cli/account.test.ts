import { mkdtempSync, rmSync, statSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host/internal'
import t from 'tap'
import { bearer, bootstrapUser, newWallet, signedBootstrap, startTestHost } from '../../harness/host.ts'
import { signedLogin } from '../../harness/web-sign-in.ts'

const folder = mkdtempSync(join(tmpdir(), 'gatewright-account-'))
t.teardown(() => rmSync(folder, { recursive: true, force: true }))
const env = { XDG_CONFIG_HOME: folder }
const host = await startTestHost()
t.teardown(() => host.close())
const { send } = host
const file = join(folder, 'gatewright', 'login.json')
const wallet = newWallet()

const run = async (...args: string[]) => {
  const { code, out, problem } = await runCommand(args, { env, ask: undefined })
  return { code, output: `${out}${problem}` }
}

/** Approves the sign-in that a command shows, as the page does. */
async function approve(note: string): Promise<void> {
  const requestId = /#request=([0-9a-f]+)/.exec(note)?.[1]
  const code = /code: (\S+)/.exec(note)?.[1]
  const body = await signedLogin(send, wallet, { requestId, code })
  t.equal((await send('/auth/login', { body })).status, 200)
}

t.test('asks to log in first, and only at hosts that keep the key secret on the way', async t => {
  t.match(await run('my-keys', 'list'), {
    code: 1,
    output: /^You are not logged in: run gatewright login HOST/,
  })
  t.match(await run('login', 'http://pay.example'), {
    code: 2,
    output: /HOST must be an address such as https/,
  })
  t.match(await run('login', host.url, '--daily', '1.5'), { code: 2, output: /--daily must be US dollars/ })
  t.match(await run('login', 'http://127.0.0.1:9'), { code: 1, output: /does not answer/ })
})

t.test('logs in by the device flow, with a limited key that only its user can read', async t => {
  let approval: Promise<void> | undefined
  const { code, out } = await runCommand(['login', host.url, '--daily', '20'], {
    env,
    ask: undefined,
    progress: note => {
      approval = approve(note)
    },
  })
  await approval
  t.equal(code, 0)
  t.match(out, /^Signed in at http:\S+ as 0x[^]*It may pay up to 20\.00 USD a day\.$/)
  t.equal(statSync(file).mode & 0o777, 0o600)
  const { key } = JSON.parse(readFileSync(file, 'utf8')) as { key: string }
  t.notMatch(out, key, 'the key is not printed')
})

t.test('creates, lists and revokes keys below that of the login', async t => {
  const made = await run('my-keys', 'create', '--label', 'agent', '--daily', '5', '--json')
  const { userKeyId } = JSON.parse(made.output) as { userKeyId: string }
  t.match(await run('my-keys', 'list'), { code: 0, output: new RegExp(`^${userKeyId} +agent +live `, 'm') })
  t.match(await run('my-keys', 'revoke', userKeyId), { code: 2, output: /needs --yes without a terminal/ })
  t.match(await run('my-keys', 'revoke', userKeyId, '--yes'), { code: 0, output: `${userKeyId} is revoked.` })
  t.match(await run('my-keys', 'list'), { output: new RegExp(`^${userKeyId} +agent +revoked `, 'm') })
})

t.test('pays once for one idempotency key, within the limit, and prints why not', async t => {
  const payee = await bootstrapUser(send)
  const to = payee.address
  const { body } = await send('/user/v1/bootstrap', { body: await signedBootstrap(wallet) })
  const headers = { ...bearer(body['sessionToken'] as string), 'idempotency-key': 'fund-0001' }
  t.equal((await send('/user/v1/deposits', { headers, body: { amountCents: 10_000 } })).status, 200)
  const args = ['pay', to, '12.50', '--memo', 'Lunch', '--idempotency-key', 'lunch-0001', '--yes']
  t.match(await run(...args), { code: 0, output: /^Paid 12\.50 USD to 0x\w+: pay_/ })
  t.match(await run(...args), { code: 0, output: /^Paid 12\.50 USD/ })
  const refused = await run('pay', to, '10', '--yes', '--json')
  t.match(JSON.parse(refused.output), { error: 'policy_blocked' })
  t.match(await run('pay', '0x12', '1'), { code: 2, output: /WALLET must be/ })
  t.match(await run('pay', to, '1'), { code: 2, output: /needs --yes .* Pay 1\.00 USD to 0x/ })
})

t.test('prints the requests of the account, with why one was refused', async t => {
  const { code, output } = await run('requests', 'tail', '--once')
  t.equal(code, 0)
  t.match(output, /^\S+Z +payments\.create +200 +- /m)
  t.match(output, /^\S+Z +payments\.create +403 +\S.* /m)
  t.notMatch(output, 'requests.list', 'without those of the command itself')
})

t.test('logs out: the key is revoked and forgotten', async t => {
  t.match(await run('logout'), { code: 0, output: /is revoked and deleted here/ })
  t.match(await run('my-keys', 'list'), { code: 1, output: /not logged in/ })
})
