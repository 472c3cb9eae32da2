// Other generators make clients of `/openapi.json?for=sdk` that compile under `strict` and call the host.
import { execFile } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import t from 'tap'
import { nodeBinary } from '../harness/binaries.ts'
import { bootstrapUser, openTestHost } from '../harness/host.ts'
import { runNode } from '../harness/node.ts'
import { installTools } from '../harness/tools.ts'

const TOOLS = resolve('test/client/generators')
const FOLDER = resolve('build/client-generators')
installTools(TOOLS)
rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
symlinkSync(join(TOOLS, 'node_modules'), join(FOLDER, 'node_modules'))

const host = await openTestHost(t)
const description = `${host.url}/openapi.json?for=sdk`
// Two of them need a later Node than the oldest one that the packages support.
const node = nodeBinary('24.21.0')
const run = promisify(execFile)
const generate = (program: string, ...given: string[]): Promise<unknown> =>
  run(node, [join(TOOLS, 'node_modules', program), ...given], { cwd: FOLDER, timeout: 60_000 })

/** One call of each client, as a team writes it. */
const CALLS = `
import createFetchClient from 'openapi-fetch'
import type { paths } from './openapi-typescript'
import { depositsCreate } from './hey-api'
import { createClient } from './hey-api/client'
import { balancesRead } from './orval'

export async function ofHeyApi(baseUrl: string, token: string): Promise<number> {
  const client = createClient({ baseUrl, auth: () => token })
  const { data } = await depositsCreate({
    client,
    headers: { 'idempotency-key': 'generated-1' },
    body: { amountCents: 300 },
  })
  const deposit = data?.data.deposit
  return deposit !== undefined && 'amountCents' in deposit ? Number(deposit.amountCents) : -1
}

export async function ofOpenapiTypescript(baseUrl: string, token: string): Promise<number> {
  const client = createFetchClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } })
  const { data, error } = await client.GET('/user/v1/balances')
  return data?.data.balances[0]?.availableCents ?? (error?.error.length as number)
}

export async function ofOrval(_: string, token: string): Promise<number> {
  const response = await balancesRead({ headers: { authorization: \`Bearer \${token}\` } })
  return response.status === 200 ? (response.data.data.balances[0]?.availableCents ?? -1) : -response.status
}
`

const STRICT = {
  compilerOptions: {
    strict: true,
    target: 'es2022',
    module: 'esnext',
    moduleResolution: 'bundler',
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: [],
    noEmit: true,
  },
  files: ['calls.ts'],
}

t.test('openapi-typescript, hey-api and orval make clients that compile and call the host', async t => {
  const orval = {
    api: { input: description, output: { target: './orval.ts', client: 'fetch', baseUrl: host.url } },
  }
  writeFileSync(join(FOLDER, 'orval.config.mjs'), `export default ${JSON.stringify(orval)}`)
  writeFileSync(join(FOLDER, 'calls.ts'), CALLS)
  writeFileSync(join(FOLDER, 'tsconfig.json'), JSON.stringify(STRICT))
  await generate('openapi-typescript/bin/cli.js', description, '-o', 'openapi-typescript.ts')
  await generate('@hey-api/openapi-ts/bin/run.js', '-i', description, '-o', 'hey-api')
  await generate('orval/dist/bin/orval.mjs', '--config', 'orval.config.mjs')
  t.same(await runNode(['node_modules/typescript/bin/tsc', '-p', FOLDER]), { code: 0, output: '' })

  const outfile = join(FOLDER, 'calls.mjs')
  await build({
    entryPoints: [join(FOLDER, 'calls.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
  })
  const calls = (await import(pathToFileURL(outfile).href)) as Record<
    'ofHeyApi' | 'ofOpenapiTypescript' | 'ofOrval',
    (url: string, token: string) => Promise<number>
  >
  const { token } = await bootstrapUser(host.send)
  t.equal(await calls.ofHeyApi(host.url, token), 300)
  t.equal(await calls.ofOpenapiTypescript(host.url, token), 300)
  t.equal(await calls.ofOrval(host.url, token), 300)
})
