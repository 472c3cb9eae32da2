import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { pgbenchBinary } from '../harness/binaries.ts'
import { extent } from './extent.ts'

/** Puts pgbench's variables in the place of the parameters of a pair of statements with `$1` and `$2` as their key. */
function script(begin: string, end: string): string {
  const values: Record<string, string> = {
    1: "'bench-' || :client_id || '-' || :n",
    2: "'account'",
    3: "'fingerprint'",
    4: "'owner-' || :n",
    5: '1767225660000',
    6: '1767225600000',
    7: "'payments.create'",
    8: "'account'",
  }
  const endValues: Record<string, string> = {
    1: values[1] as string,
    2: values[2] as string,
    3: '1767225600000',
    4: "'done'",
    5: `'{"status":201,"headers":[["content-type","application/json"]],"body":"{}"}'`,
    6: '1767312000000',
    7: 'null',
  }
  const fill = (text: string, given: Record<string, string>): string =>
    text.replace(/\s+/g, ' ').replace(/\$(\d)/g, (_, index: string) => `(${given[index]})`)
  return `\\set n random(1, 1000000000)\n${fill(begin, values)};\n${fill(end, endValues)};\n`
}

/** What is said where a machine has no pgbench. */
export const NO_PGBENCH =
  'pgbench is not installed beside Postgres or in PATH: the server alone is not measured'

/** Runs pgbench with prepared statements in a schema, and returns what it printed. */
export async function runPgbench(url: string, schema: string, flags: readonly string[]): Promise<string> {
  const program = pgbenchBinary()
  if (!program) throw new Error(NO_PGBENCH)
  const env = { ...process.env, ...program.env, PGOPTIONS: `-c search_path=${schema}` }
  const child = spawn(program.path, ['-n', '-M', 'prepared', ...flags, url], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const [code] = await once(child, 'close')
  // A script that fails ends its client, and the others go on.
  if (code !== 0 || /aborted/.test(output)) throw new Error(`${program.path}: ${output}`)
  return output
}

/** Runs a begin and an end by pgbench, prepared, and prints its pairs a second: the limit of the server itself. */
export async function pgbench(schema: string, begin: string, end: string): Promise<void> {
  const url = process.env['TEST_POSTGRES_URL'] as string
  if (!pgbenchBinary()) return console.log(`  ${NO_PGBENCH}\n`)
  const directory = mkdtempSync(join(tmpdir(), 'gatewright-pgbench-'))
  const file = join(directory, 'pair.sql')
  writeFileSync(file, script(begin, end))
  const seconds = String(extent(3, 1))
  for (const clients of [1, 10, 20, 50]) {
    const flags = ['-f', file, '-c', String(clients), '-j', '2', '-T', seconds]
    const pairs = /tps = ([\d.]+)/.exec(await runPgbench(url, schema, flags))?.[1]
    console.log(
      `  pgbench, the same pair, prepared, ${clients} clients: ${Math.round(Number(pairs))} pairs/s`,
    )
  }
  console.log()
  rmSync(directory, { recursive: true, force: true })
}
