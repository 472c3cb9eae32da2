import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { branchOfXpub } from '#packages/reference-host/dist/chain/xpub.js'
import t from 'tap'
import { HDKey, mnemonicToAccount } from 'viem/accounts'
import { accountOf } from '../../../../harness/chain/erc20.ts'
import { mine, DEVELOPMENT_MNEMONIC } from '../../../../harness/chain/evm.ts'
import { startTestHost, sessionOf } from '../../../../harness/host.ts'
import { payinOf } from '../../../harness/money.ts'
import { ask, chainUser, startPaidHost, unitsOf, type ChainUser } from '../../../harness/paid-host.ts'
import { temporaryFolder } from '../../../../harness/files.ts'

/**
 * The wallet whose first 20 addresses the chain funds and can spend from; the 20th is the shared receiver.
 */
const wallet = mnemonicToAccount(DEVELOPMENT_MNEMONIC, { path: "m/44'/60'/0'" } as never).getHdKey()
const xpub = wallet.publicExtendedKey
const paid = await startPaidHost({ depositAddresses: [], xpub })
t.teardown(() => paid.close())
const { chain, clock, eurc, host, receiver, pay, watch, newUser } = paid
const { addressAt } = branchOfXpub(xpub)
const anywhere = { amountCents: 10, asset: 'EURC', payFrom: 'anywhere' }
const given = async (user: ChainUser): Promise<string> => (await ask(user, anywhere)).payTo?.address as string

t.test('the wallet of the xpub can spend what was paid to a derived address', async t => {
  const user = await newUser()
  const payin = await ask(user, anywhere)
  const address = payin.payTo?.address as string
  t.equal(address, addressAt(0))
  await pay(16, address, unitsOf(payin), eurc)
  await mine(chain.url)
  await watch()
  t.match(await user.payin(payin.id), { status: 'settled' })
  await pay(0, await accountOf(chain.url, 15), unitsOf(payin), eurc)
  t.equal(await eurc.balanceOf(address), 0n)
})

t.test('30 simultaneous pay-ins get 30 addresses of the wallet, and none that is in use', async t => {
  const users = [await newUser(), await newUser(), await newUser()]
  const asked = users.flatMap(user => Array.from({ length: 10 }, () => given(user)))
  const addresses = await Promise.all(asked)
  // The watcher saw payments to 1 to 16, which were never given out.
  const expected = Array.from({ length: 31 }, (_, n) => addressAt(n + 17)).filter(each => each !== receiver)
  t.same(
    addresses.toSorted(),
    expected.toSorted(),
    'consecutive, without used addresses and the shared receiver',
  )
})

t.test('an account gets ten unpaid addresses a day and more the next day', async t => {
  const user = await newUser()
  for (let n = 0; n < 10; n += 1) await given(user)
  const denied = { status: 403, body: { error: 'policy_blocked', rule: 'max_unpaid_addresses' } }
  t.match(await user.write('/subscriptions/payin', anywhere), denied)
  clock.advance(86_400_000)
  t.ok(await given(await user.renewed()))
})

t.test('a denied request takes no index', async t => {
  const capped = await newUser({ policy: { maxAuthAmountCents: 5 } })
  const user = await newUser()
  const before = await given(user)
  t.equal((await capped.write('/subscriptions/payin', anywhere)).status, 403)
  const indexes = Array.from({ length: 200 }, (_, n) => addressAt(n))
  t.equal(await given(user), indexes[indexes.indexOf(before) + 1])
})

t.test('after a backup is restored, no address that was paid or skipped is given out again', async t => {
  const seed = new Uint8Array(32).fill(9)
  const key = HDKey.fromMasterSeed(seed).derive("m/44'/60'/0'").publicExtendedKey
  const other = branchOfXpub(key)
  const folder = temporaryFolder(t)
  const [live, backup] = [join(folder, 'live'), join(folder, 'backup')]
  const receivers = JSON.parse(paid.env['PAYIN_RECEIVERS'] as string) as object[]
  const env = {
    ...paid.env,
    DATA_DIR: live,
    DATABASE_URL: '',
    KEY_PEPPERS: '',
    SIGNING_KEY_ENCRYPTION_KEY: '',
    DATA_KEYS: '',
    CHAIN_POLL_SECONDS: '300',
    PAYIN_RECEIVERS: JSON.stringify([receivers[0], { ...receivers[1], xpub: key }]),
  }
  /** Runs a host on the data folder while `work` runs. */
  const withHost = async <T>(work: (restored: typeof host) => Promise<T>): Promise<T> => {
    const running = await startTestHost(env, clock)
    try {
      return await work(running)
    } finally {
      await running.close()
    }
  }
  const watching = `watch chain ${chain.chainId}`
  const userKey = await withHost(async one => {
    const user = await chainUser(one.send, 12, clock.now())
    t.equal(await given(user), other.addressAt(0))
    return user.key
  })
  cpSync(live, backup, { recursive: true })
  const lost = await withHost(async one => {
    const token = await sessionOf(one.send, userKey)
    const asked = (): ReturnType<typeof one.send> =>
      one.send('/user/v1/subscriptions/payin', {
        body: anywhere,
        headers: { authorization: `Bearer ${token}`, 'idempotency-key': crypto.randomUUID() },
      })
    const payins = [payinOf(await asked()), payinOf(await asked()), payinOf(await asked())]
    const [, second] = payins
    await pay(16, second?.payTo?.address as string, 123n, eurc)
    await mine(chain.url)
    return payins.map(({ payTo }) => payTo?.address)
  })
  t.same(lost, [1, 2, 3].map(other.addressAt))
  rmSync(live, { recursive: true })
  cpSync(backup, live, { recursive: true })
  // After the end of the lease that the backup contains.
  clock.advance(1_000_000)
  await withHost(async one => {
    await one.chore(watching)
    t.match(one.failures, [{ message: /^index 2 of an xpub was paid .* never given out by this database/ }])
    const user = await chainUser(one.send, 13, clock.now())
    t.equal(await given(user), other.addressAt(3), 'after the one that was paid')
  })
})
