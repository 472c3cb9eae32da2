import { build } from 'esbuild'
import { manifest } from '../workspace/tree.ts'
import t from 'tap'

/** Every file that an entry loads, by the path from the repository's root. */
async function filesOf(entry: string): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents: `export * from '${entry}'`, resolveDir: process.cwd() },
    bundle: true,
    format: 'esm',
    platform: 'node',
    metafile: true,
    write: false,
    logLevel: 'silent',
    external: ['pg-native', '@nestjs/common', '@nestjs/core'],
  })
  return Object.keys(metafile.inputs)
}

const UNUSED =
  /signature-verifier|session-issuer|legacy-alias-router|\/viem\/|node_modules\/(pg|redis|ioredis|express|koa|fastify|hono)\//
const STORES: Readonly<Record<string, RegExp>> = {
  './redis': /\/storage\/redis|RateLimiterRedis/,
  './postgres': /\/storage\/postgres|RateLimiterPostgres/,
  './sqlite': /\/storage\/sqlite/,
}

/** The SDK of the Model Context Protocol. */
const SDK = /node_modules\/@modelcontextprotocol\//

t.test('loads no client, framework, store or package that an entry does not use', async t => {
  const entries = Object.keys(manifest('gatewright').exports ?? {}).filter(name => name !== './package.json')
  t.ok(entries.length > 10)
  for (const entry of entries) {
    const files = await filesOf(`gatewright${entry.slice(1)}`)
    t.same(
      files.filter(file => UNUSED.test(file)),
      [],
      entry,
    )
    t.equal(
      files.some(file => SDK.test(file)),
      entry === './mcp',
      `${entry} loads the SDK of tools only if it guards tools`,
    )
    for (const [store, pattern] of Object.entries(STORES)) {
      const found = files.filter(file => pattern.test(file))
      if (store === entry) t.ok(found.length > 0, `${entry} loads its store`)
      else t.same(found, [], `${entry} loads nothing of ${store}`)
    }
  }
})
