// An agent with a key of 20 USD a day, at a host that is killed and started again while it pays.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type CallToolResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { temporaryFolder } from '../../../harness/files.ts'
import { gatewrightProcess } from '../../../harness/gatewright.ts'
import { bootstrapUser, request, spawnHost, type TestHost } from '../../../harness/host.ts'
import { PROGRAMS } from '../../../harness/programs.ts'
import { newMoneyUser } from '../../harness/money.ts'

const PAYMENTS = 12
const AMOUNT_CENTS = 150

const saidBy = ({ content: [first] }: CallToolResult): Record<string, unknown> =>
  JSON.parse(first?.type === 'text' ? first.text : '') as Record<string, unknown>

for (const mode of ['auto', 'legacy'] as const)
  t.test(`${mode}: each intent is paid once, and the denial at the cap says what remains`, async t => {
    const [dataDir, home] = [temporaryFolder(t), temporaryFolder(t)]
    const env = { RATE_LIMITS: 'off' }
    let host = await spawnHost(dataDir, env)
    const { url } = host
    t.teardown(() => host.stop('SIGKILL'))
    const send: TestHost['send'] = (path, options) => request(url, path, options)
    const payee = await bootstrapUser(send)
    const owner = await newMoneyUser(send)
    await owner.fund(100_000)

    mkdirSync(join(home, 'gatewright'))
    const login = { host: url, keyId: 'key_1', key: owner.key, walletAddress: null }
    writeFileSync(join(home, 'gatewright', 'login.json'), JSON.stringify(login))
    const made = await gatewrightProcess(['my-keys', 'create', 'shopper', '--daily', '20.00', '--json'], {
      XDG_CONFIG_HOME: home,
    })
    const { userApiKey } = JSON.parse(made.output) as { userApiKey: string }
    const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } })
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAMS.command, 'mcp', url],
        env: { USER_KEY: userApiKey },
      }),
    )
    t.teardown(() => client.close())
    t.ok((await client.listTools()).tools.some(({ name }) => name === 'payments.create'))

    const pay = (intent: string, amountCents = AMOUNT_CENTS): Promise<CallToolResult> =>
      client.callTool({
        name: 'payments.create',
        arguments: { to: { walletAddress: payee.address }, amountCents, intent },
      })
    const intents = Array.from({ length: PAYMENTS }, (_, n) => `dinner ${n}`)
    const calls = intents.map(intent => pay(intent))
    await Promise.race(calls)
    await host.stop('SIGKILL')
    host = await spawnHost(dataDir, { ...env, PORT: new URL(url).port })
    const results = await Promise.all(calls)
    t.same(
      results.filter(({ isError }) => isError).map(saidBy),
      [],
      'every call was answered although the host was killed',
    )
    t.equal(await owner.balance(), 100_000 - PAYMENTS * AMOUNT_CENTS)
    const again = await Promise.all(intents.map(intent => pay(intent)))
    t.same(again.map(saidBy), results.map(saidBy), 'the client calls again')
    t.equal(await owner.balance(), 100_000 - PAYMENTS * AMOUNT_CENTS)

    const denied = await pay('a dinner too many', 300)
    t.equal(denied.isError, true)
    t.match(saidBy(denied), {
      error: 'policy_blocked',
      rule: 'dailySpendCapCents',
      limit: 2_000,
      remaining: 200,
      requested: 300,
      resetsAt: String,
      next: /Tell the person which limit/,
    })
    t.equal(await owner.balance(), 100_000 - PAYMENTS * AMOUNT_CENTS)
  })
