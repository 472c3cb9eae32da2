// The SDK's own client starts the command, as clients of agents do, and as docs/agents.md configures them.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type CallToolResult } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../../../harness/files.ts'
import { PROGRAMS } from '../../../harness/programs.ts'
import { startShop } from './bridged-shop.ts'

type Era = 'auto' | 'legacy'

/** Starts the command with a client, and collects what it reports on its standard error stream. */
async function connected(
  t: Test,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  mode: Era = 'auto',
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAMS.command, ...args],
    env: { ...env },
    stderr: 'pipe',
  })
  const client = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode } })
  const errors: Error[] = []
  // eslint-disable-next-line unicorn/prefer-add-event-listener -- the client of the SDK has this member only
  client.onerror = error => errors.push(error)
  let reported = ''
  transport.stderr?.on('data', chunk => {
    reported += String(chunk)
  })
  await client.connect(transport)
  t.teardown(() => client.close())
  return { client, transport, errors, reported: () => reported }
}

const saidBy = ({ content: [first] }: CallToolResult): string => (first?.type === 'text' ? first.text : '')

for (const mode of ['auto', 'legacy'] as const)
  t.test(`${mode}: lists, pays, is denied at the cap, and ends with its client`, async t => {
    const shop = await startShop(t)
    const { client, transport, errors, reported } = await connected(
      t,
      ['mcp', shop.url],
      { USER_KEY: 'gw_secret_key' },
      mode,
    )
    t.equal((await client.listTools()).tools.length, 3)
    const pay = (orderId: string): Promise<CallToolResult> =>
      client.callTool({ name: 'payments.create', arguments: { orderId, amountCents: 4_000 } })
    const paid = await Promise.all(['order-1', 'order-2'].map(pay))
    t.same(
      paid.map(({ isError }) => isError),
      [undefined, undefined],
    )
    t.same((await pay('order-1')).content, paid[0]?.content, 'the same call again')
    const denied = await pay('order-3')
    t.equal(denied.isError, true)
    t.match(JSON.parse(saidBy(denied)), { error: 'policy_blocked', remaining: 2_000, next: String })
    t.equal(shop.world.processor.calls.length, 2)

    await shop.stop()
    const late = pay('order-1')
    await new Promise(resolve => transport.stderr?.once('data', resolve))
    await shop.start()
    t.same((await late).content, paid[0]?.content, 'while the host was away')
    t.equal(shop.world.processor.calls.length, 2)

    const { pid } = transport
    await client.close()
    t.throws(() => process.kill(pid as number, 0), { code: 'ESRCH' })
    t.same(errors, [], 'every line was a message')
    t.match(reported(), /^http:\S+ does not answer: .*\. Trying again\.\nhttp:\S+ answers again\.\n$/)
    t.notMatch(reported(), 'gw_secret_key')
  })

/** A server as clients configure it. */
interface Configured {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

t.test('each configuration of docs/agents.md starts the command, by the login or by a key', async t => {
  const shop = await startShop(t)
  const home = temporaryFolder(t)
  mkdirSync(join(home, 'gatewright'))
  const login = { host: shop.url, keyId: 'key_1', key: 'gw_login', walletAddress: null }
  writeFileSync(join(home, 'gatewright', 'login.json'), JSON.stringify(login))
  const page = readFileSync('docs/agents.md', 'utf8')
  const configured = [...page.matchAll(/^```json\n([^]*?)^```$/gm)].map(([, json = '']) => {
    const { mcpServers, servers } = JSON.parse(json) as Record<string, Record<string, Configured>>
    return Object.values(mcpServers ?? servers ?? {})[0] as Configured
  })
  const [, ofShell = ''] = /^claude mcp add .* -- (.+)$/m.exec(page) ?? []
  const [command = '', ...args] = ofShell.split(' ')
  t.equal(configured.push({ command, args }), 4)
  for (const { command, args, env = {} } of configured) {
    t.same([command, args[0]], ['npx', 'gatewright'])
    const own = args.slice(1).map(each => each.replace('https://pay.example', shop.url))
    const { client } = await connected(t, own, { XDG_CONFIG_HOME: home, ...env })
    t.equal((await client.listTools()).tools.length, 3, args.join(' '))
    await client.close()
  }
})
