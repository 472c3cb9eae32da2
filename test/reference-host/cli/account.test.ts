import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand } from '@gatewright/reference-host'
import t, { type Test } from 'tap'
import {
  bearer,
  bootstrapUser,
  newWallet,
  signedBootstrap,
  openTestHost,
  type WalletUser,
} from '../../harness/host.ts'
import { cuttingProxy } from './cutting-proxy.ts'
import { signedLogin } from '../harness/web-sign-in.ts'
import { temporaryFolder } from '../../harness/files.ts'

const folder = temporaryFolder(t)
const env = { XDG_CONFIG_HOME: folder }
const host = await openTestHost(t, { RATE_LIMITS: 'off' })
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

/** How many payments a user has received. */
async function paymentsTo({ token }: WalletUser): Promise<number> {
  const { body } = await send('/user/v1/payments', { headers: bearer(token) })
  return (body.data['payments'] as readonly unknown[]).length
}

/** Lets the commands of a test reach the host through a proxy. */
async function loginThroughProxy(t: Test) {
  const proxy = await cuttingProxy(host.url)
  const login = readFileSync(file, 'utf8')
  writeFileSync(file, login.replace(host.url, proxy.url))
  t.teardown(async () => {
    writeFileSync(file, login)
    await proxy.close()
  })
  return proxy
}

t.test('asks to log in first, and only at hosts that keep the key secret on the way', async t => {
  t.match(await run('my-keys', 'list'), {
    code: 1,
    output: /^You are not logged in: run npx gatewright login HOST/,
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
  const { code, out } = await runCommand(['login', host.url, '--daily', '40.00'], {
    env,
    ask: undefined,
    progress: note => {
      t.match(note, /\nWaiting for your approval, 10 min left\. Ctrl-C ends it\.$/)
      approval = approve(note)
    },
  })
  await approval
  t.equal(code, 0)
  t.match(out, /^Signed in at http:\S+ as 0x[^]*It may pay up to 40\.00 USD a day\.$/)
  t.ok(out.includes(wallet.address), 'in the spelling of EIP-55')
  t.equal(statSync(file).mode & 0o777, 0o600)
  const { key } = JSON.parse(readFileSync(file, 'utf8')) as { key: string }
  t.notMatch(out, key, 'the key is not printed')
})

t.test('creates, lists and revokes keys below that of the login', async t => {
  const made = await run('my-keys', 'create', 'agent', '--daily', '5.00', '--json')
  const { userKeyId } = JSON.parse(made.output) as { userKeyId: string }
  t.match(await run('my-keys', 'list'), { code: 0, output: new RegExp(`^${userKeyId} +agent +live `, 'm') })
  const loose = JSON.parse((await run('my-keys', 'create', 'loose', '--json')).output) as {
    userKeyId: string
  }
  const limits = JSON.parse((await run('my-keys', 'list', '--json')).output) as {
    id: string
    policy: unknown
  }[]
  t.notMatch(limits.find(({ id }) => id === loose.userKeyId)?.policy, { dailySpendCapCents: 4000 })
  const { output: listed } = await run('my-keys', 'list')
  t.match(listed, new RegExp(`^${loose.userKeyId} .* 40\\.00 USD a day`, 'm'), 'a limit from above')
  t.match(listed, new RegExp(`^${userKeyId} .* 5\\.00 USD a day`, 'm'), 'the lower one')
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
  const refused = await run('pay', to, '30.00', '--yes', '--json')
  t.match(JSON.parse(refused.output), { error: 'policy_blocked' })
  t.match(await run('pay', to, '50', '--yes'), {
    code: 2,
    output: /AMOUNT must be US dollars with two decimals such as 50\.00, at most 1,000,000\.00 USD, got "50"/,
  })
  for (const [given, meant] of [
    ['50', '50.00'],
    ['$50', '50.00'],
    ['12.5', '12.50'],
    ['12,50', '12.50'],
    ['1,250.00', '1250.00'],
    ['50.00 USD', '50.00'],
    ['USD 7', '7.00'],
  ] as const)
    t.match((await run('pay', to, given)).output, `: did you mean ${meant}?`, given)
  for (const given of ['0', '-5', 'five', '1.234', '1,23,456', '2000000', ''])
    t.notMatch((await run('pay', to, given)).output, 'did you mean', given)
  t.match(await run('pay', '0x12', '1.00'), { code: 2, output: /WALLET must be/ })
  t.match(await run('pay', to, '1.00'), { code: 2, output: /needs --yes .* Pay 1\.00 USD to 0x/ })
})

t.test('pays once when the response breaks off and the command is repeated', async t => {
  const payee = await bootstrapUser(send)
  const to = payee.address
  const proxy = await loginThroughProxy(t)
  const payments = join(folder, 'gatewright', 'payments')
  const pay = (...args: string[]) => run('pay', to, '2.00', '--yes', ...args)

  proxy.disturbs = 'response'
  const unknown = await pay()
  t.match(unknown, { code: 1, output: /Whether 2\.00 USD to 0x\w+ at http:\S+ was paid is not known/ })
  const [kept = '', ...others] = readdirSync(payments)
  t.same(others, [])
  t.equal(statSync(join(payments, kept)).mode & 0o777, 0o600)
  t.equal(statSync(payments).mode & 0o777, 0o700)

  await t.test('another payment meanwhile is another one', async t => {
    proxy.disturbs = undefined
    t.match(await pay('--memo', 'Other'), { code: 0 })
    t.same(readdirSync(payments), [kept], 'forgotten when its outcome is known')
  })

  await t.test('says so while the host denies the repetition', async t => {
    proxy.disturbs = 'denied'
    t.match(await pay(), {
      code: 1,
      output:
        /^Denied\\u001b\[2K\\u202e\\u000aPaid\nThis was a repetition: .* began the payment at .*Z and got no answer, so it may have been made/,
    })
    t.same(readdirSync(payments), [kept])
  })

  proxy.disturbs = undefined
  const keys = proxy.keys.splice(0)
  t.match(await pay(), { code: 0, output: /^Paid 2\.00 USD/ })
  t.equal(proxy.keys[0], keys[0])
  t.same(readdirSync(payments), [])
  t.equal(await paymentsTo(payee), 2, 'one with the memo, and one')
  t.match(await pay(), { code: 0 })
  t.not(proxy.keys[1], proxy.keys[0], 'the next one has a key of its own')
  t.equal(await paymentsTo(payee), 3)
})

t.test('does not repeat a payment that the host may have forgotten, or whose file is damaged', async t => {
  const payee = await bootstrapUser(send)
  const to = payee.address
  const proxy = await loginThroughProxy(t)
  proxy.disturbs = 'response'
  await run('pay', to, '1.00', '--yes')
  proxy.disturbs = undefined
  const payments = join(folder, 'gatewright', 'payments')
  const kept = join(payments, readdirSync(payments)[0] as string)
  const pending = JSON.parse(readFileSync(kept, 'utf8')) as { idempotencyKey: string }
  const startedAt = (agoMs: number): void =>
    writeFileSync(kept, JSON.stringify({ ...pending, startedAt: new Date(Date.now() - agoMs).toISOString() }))

  const tooOld = { code: 1, output: /"error": "outcome_unknown"[^]*could pay twice/ }
  for (const age of [23 * 3_600_000, -60_000]) {
    startedAt(age)
    t.match(await run('pay', to, '1.00', '--yes', '--json'), tooOld)
    const { idempotencyKey } = pending
    t.match(
      await run('pay', to, '1.00', '--yes', '--json', '--idempotency-key', idempotencyKey),
      tooOld,
      'also if its key is given',
    )
  }
  startedAt(0)
  const confirmedLate = await runCommand(['pay', to, '1.00', '--json'], {
    env,
    progress: () => {},
    ask: async () => {
      startedAt(23 * 3_600_000)
      return 'y'
    },
  })
  t.match({ code: confirmedLate.code, output: confirmedLate.out + confirmedLate.problem }, tooOld)
  writeFileSync(kept, '{"idempot')
  t.match(await run('pay', to, '1.00', '--yes'), { code: 1, output: /cannot be read .* delete the file$/ })
  t.equal(await paymentsTo(payee), 1, 'the one whose response broke off')

  startedAt(23 * 3_600_000)
  t.match(await run('pay', to, '1.00', '--yes', '--idempotency-key', 'anew-0001'), { code: 0 })
  t.equal(await paymentsTo(payee), 2)
  t.same(readdirSync(payments), [])
})

t.test('pays once if two commands begin the same payment at once', async t => {
  const payee = await bootstrapUser(send)
  const to = payee.address
  const both = await Promise.all([run('pay', to, '1.00', '--yes'), run('pay', to, '1.00', '--yes')])
  t.equal(both.filter(({ code }) => code === 0).length > 0, true)
  t.equal(await paymentsTo(payee), 1)
  t.same(readdirSync(join(folder, 'gatewright', 'payments')), [])
})

t.test('a payment that is unknown to one of two commands is not made again', async t => {
  const payee = await bootstrapUser(send)
  const proxy = await loginThroughProxy(t)
  const pay = () => run('pay', payee.address, '1.00', '--yes')
  proxy.disturbs = 'response'
  proxy.meanwhile = async () => {
    proxy.disturbs = undefined
    t.match(await pay(), { code: 0 }, 'the other command')
  }
  t.match(await pay(), { code: 1, output: /Run the same command again/ })
  t.match(await pay(), { code: 0 })
  t.equal(await paymentsTo(payee), 1)
})

t.test('a host that answers null leaves the outcome unknown', async t => {
  const { address } = await bootstrapUser(send)
  const proxy = await loginThroughProxy(t)
  proxy.disturbs = 'null'
  t.match(await run('pay', address, '1.00', '--yes', '--json'), {
    code: 1,
    output: /"error": "outcome_unknown"/,
  })
  proxy.disturbs = undefined
  t.match(await run('pay', address, '1.00', '--yes'), { code: 0 })
})

t.test('a damaged login shows nothing of the key that it holds', async t => {
  const login = readFileSync(file, 'utf8')
  t.teardown(() => writeFileSync(file, login))
  const { key } = JSON.parse(login) as { key: string }
  for (const damaged of [key, `{"key":${key}}`, 'null', '{}', `{"host":7,"keyId":"k","key":"${key}"}`]) {
    writeFileSync(file, damaged)
    const { code, output } = await run('my-keys', 'list')
    t.equal(code, 1)
    t.match(output, /login\.json cannot be read \(it holds no login\)/)
    t.notMatch(output, key.slice(0, 8))
  }
})

t.test('prints the requests of the account, with why one was refused', async t => {
  const { code, output } = await run('requests', 'tail', '--once')
  t.equal(code, 0)
  t.match(output, /^\S+Z +200 +payments\.create +gatewright on .* - +\S{36} +- *$/m)
  t.match(
    output,
    /^\S+Z +403 +payments\.create +gatewright on .* daily limit, [\d.]+ left +\S{36} +Spending /m,
  )
  t.notMatch(output, 'requests.list', 'without those of the command itself')
})

t.test('a new login revokes the key of the one that it replaces', async t => {
  const { keyId: oldId } = JSON.parse(readFileSync(file, 'utf8')) as { keyId: string }
  t.match(await run('login', host.url), {
    code: 2,
    output: new RegExp(
      `login needs --yes .* You are logged in at \\S+\\. .*key ${oldId} and the keys below it`,
    ),
  })
  const logIn = async (...args: string[]) => {
    let approval: Promise<void> | undefined
    const { out } = await runCommand(['login', host.url, ...args], {
      env,
      ask: undefined,
      progress: note => {
        approval = approve(note)
      },
    })
    await approval
    return out
  }
  const first = await logIn('--yes', '--payment', '15.00')
  t.match(first, new RegExp(`^Key ${oldId} of the earlier login at \\S+ is revoked\\.$`, 'm'))
  t.match(first, /It may pay up to 15\.00 USD at once and 50\.00 USD a day\.$/m, 'a day has a default')
  t.match(await logIn('--yes', '--keep-old'), /^Signed in/)
  const kept = readFileSync(file, 'utf8')
  writeFileSync(file, kept.replace(host.url, 'http://127.0.0.1:9'))
  t.match(
    await logIn('--yes'),
    /could not be revoked: .* revoke it in the console of http:\/\/127\.0\.0\.1:9\.$/m,
  )
})

t.test('logs out: the key is revoked and forgotten', async t => {
  t.match(await run('logout'), { code: 0, output: /is revoked and deleted here/ })
  t.match(await run('my-keys', 'list'), { code: 1, output: /not logged in/ })
})
