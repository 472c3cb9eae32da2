// The ten calls of the client on each runtime, against one host.
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { nodeBinary, OTHER_NODES } from '../harness/binaries.ts'
import { startBrowser } from '../harness/browser/browser.ts'
import { bootstrapUser, openTestHost } from '../harness/host.ts'
import { freePort } from '../harness/services.ts'
import { serving } from '../harness/serving.ts'
import { bundle, type Runtime } from '../workspace/runtimes/bundle.ts'
import { BINARIES, capnp } from '../workspace/runtimes/start.ts'
import type { TenCalls, TenResults } from './ten-calls.ts'
import { tenResults } from './ten-results.ts'

const run = promisify(execFile)
const FOLDER = 'build/client-runtimes'
mkdirSync(FOLDER, { recursive: true })

const host = await openTestHost(t)
const payee = await bootstrapUser(host.send)

/** Runs the ten calls for a new user, and compares what they return. */
async function compare(t: Test, run: (calls: TenCalls) => Promise<unknown>): Promise<void> {
  const { key, address } = await bootstrapUser(host.send)
  t.same(await run({ url: host.url, userKey: key, payee: payee.address }), tenResults(address))
}

/** Bundles a program that may call `tenCalls`, and writes it. Resolves to its path. */
async function written(name: string, runtime: Runtime, program: string): Promise<string> {
  const imported = `import { tenCalls } from ${JSON.stringify(resolve('build/test/client/ten-calls.js'))}\n`
  const path = join(FOLDER, `${name}.mjs`)
  writeFileSync(path, (await bundle(runtime, imported + program)).text)
  return path
}

const printing = (calls: TenCalls): string =>
  `console.log(JSON.stringify(await tenCalls(${JSON.stringify(calls)})))`

const commands: Readonly<Record<string, readonly [runtime: Runtime, command: readonly string[]]>> = {
  bun: ['bun', [BINARIES.bun, 'run']],
  deno: ['deno', [BINARIES.deno, 'run', '--allow-net=127.0.0.1', '--no-prompt']],
  ...Object.fromEntries(
    OTHER_NODES.map(version => [`node ${version}`, ['bun', [nodeBinary(version)]] as const]),
  ),
}

for (const [name, [runtime, [binary = '', ...given]]] of Object.entries(commands)) {
  t.test(name, t =>
    compare(t, async calls => {
      const file = await written(name.replace(' ', '-'), runtime, printing(calls))
      const { stdout } = await run(binary, [...given, file], { env: {}, timeout: 600_000 })
      return JSON.parse(stdout) as TenResults
    }),
  )
}

t.test('workerd', t =>
  compare(t, async calls => {
    const program = `export default {
      fetch: async ({ url }) =>
        url.endsWith('/calls') ? Response.json(await tenCalls(${JSON.stringify(calls)})) : new Response('ready'),
    }`
    const file = await written('workerd', 'workerd', program)
    const port = await freePort()
    const config = join(FOLDER, 'workerd.capnp')
    writeFileSync(config, capnp(port).replace('workerd.js', file.split('/').at(-1) as string))
    const child = execFile(BINARIES.workerd, ['serve', config], { env: {} })
    t.teardown(() => child.kill('SIGKILL'))
    const url = `http://127.0.0.1:${port}`
    await serving(`${url}/ready`, child)
    return (await fetch(`${url}/calls`)).json()
  }),
)

t.test('Chromium, on a page of another origin', t =>
  compare(t, async calls => {
    const browser = await startBrowser()
    t.teardown(() => browser.close())
    const page = await browser.newPage()
    const file = await written('browser', 'workerd', 'globalThis.tenCalls = tenCalls')
    await page.addScriptTag({ path: file })
    return page.evaluate(
      calls => (globalThis as unknown as { tenCalls(calls: object): Promise<TenResults> }).tenCalls(calls),
      calls,
    )
  }),
)
