import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { rows } from '@gatewright/kernel/sql'
import t from 'tap'
import { openDatabaseOf } from '../../harness/database-rows.ts'
import { gatewright } from '../../harness/gatewright.ts'
import { listening } from './listening.ts'
import { plainNode, runNode } from '../../harness/node.ts'
import { request } from '../../harness/host.ts'
import { PROGRAMS } from '../../harness/programs.ts'
import { temporaryFolder } from '../../harness/files.ts'

const folder = temporaryFolder(t)

t.test('a host whose log cannot be written serves on, and stops when it is asked to', async t => {
  const full = openSync('/dev/full', 'w')
  const child = plainNode([PROGRAMS.host], {
    env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: join(folder, 'data'), LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', full],
  })
  const exit = once(child, 'exit')
  const url = await listening(child)
  for (let n = 0; n < 20; n += 1) t.equal((await request(url, '/user/v1/balances')).status, 401)
  child.kill('SIGTERM')
  t.same(await exit, [0, null])
})

for (const kind of ['pipe', 'socket'])
  t.test(
    `a process whose log goes to a ${kind} that nobody reads goes on, and counts lost lines`,
    async t => {
      const fifo = join(folder, `log-${kind}`)
      await once(spawn('sh', ['-c', 'mkfifo "$0"', fifo]), 'exit')
      // Open for both, so that the pipe has a reader, which never reads. Node makes sockets for its own pipes.
      const log = kind === 'pipe' ? openSync(fifo, 'r+') : 'pipe'
      const script = `
      const { createLog } = await import(process.cwd() + '/packages/host/dist/observability/log.js')
      const { droppedLogLines } = await import(process.cwd() + '/packages/host/dist/observability/line-writer.js')
      const { logger } = createLog('info')
      for (let n = 0; n < 200; n += 1) {
        logger.info({ n, filler: 'x'.repeat(10_000) })
        await new Promise(resolve => setImmediate(resolve))
      }
      console.log(droppedLogLines())`
      const child = plainNode(['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', log] })
      let output = ''
      child.stdout?.on('data', chunk => (output += String(chunk)))
      t.same(await once(child, 'close'), [0, null])
      const lost = Number(output)
      t.ok(lost > 50 && lost < 200, `${output} lines were dropped`)
    },
  )

t.test('drops lines while the disk is full, and writes whole ones when there is space again', async t => {
  const log = join(folder, 'log')
  const script = `
    const { createLog } = await import(process.cwd() + '/packages/host/dist/observability/log.js')
    const { truncateSync } = await import('node:fs')
    const { logger } = createLog('info')
    // Lines of 10 ms are written together.
    for (let n = 0; n < 20_000; n += 1) logger.info({ n, filler: 'x'.repeat(10_000) }, 'before')
    await new Promise(resolve => setTimeout(resolve, 20))
    const megabytes = process.memoryUsage().heapUsed / 2 ** 20
    truncateSync(${JSON.stringify(log)})
    logger.info('after')
    console.log(JSON.stringify({ megabytes }))`
  // The limit simulates the end of the disk: files end at 64 blocks.
  const shell = `ulimit -f 64; exec "$0" --input-type=module -e "$1" 2>>"$2"`
  const child = spawn('sh', ['-c', shell, process.execPath, script, log])
  let output = ''
  child.stdout.on('data', chunk => (output += String(chunk)))
  t.same(await once(child, 'close'), [0, null])
  const { megabytes } = JSON.parse(output) as { megabytes: number }
  t.ok(megabytes < 60, `${megabytes} MB`)
  const lines = readFileSync(log, 'utf8').split('\n').filter(Boolean)
  t.same(
    lines.map(line => (JSON.parse(line) as { msg: string }).msg),
    ['after'],
  )
})

/**
 * The lines that get through `shell` from a process which logs `count` lines of 10 KB, writes a line to the file `DONE` if there is one,
 * and ends at once. In `shell`, "$0" and "$1" run that process.
 */
async function lastLines(shell: string, count: number, env: Record<string, string> = {}): Promise<string[]> {
  const script = `
    const { createLog } = await import(process.cwd() + '/packages/host/dist/observability/log.js')
    const { writeFileSync } = await import('node:fs')
    const { logger } = createLog('info')
    for (let n = 0; n < ${count}; n += 1) logger.info({ n, filler: 'x'.repeat(10_000) })
    if (process.env.DONE) writeFileSync(process.env.DONE, 'done\\n')
    process.exit(3)`
  const child = spawn('sh', ['-c', shell, process.execPath, script], { env: { ...process.env, ...env } })
  let output = ''
  child.stdout.on('data', chunk => (output += String(chunk)))
  await once(child, 'close')
  return output.split('\n').filter(Boolean)
}

const RUN = '"$0" --input-type=module -e "$1" 2>&1'

// Node makes sockets for its own pipes.
for (const [kind, shell] of Object.entries({ pipe: `${RUN} | cat`, socket: RUN })) {
  t.test(`a process that ends writes its last lines to a ${kind}, however many wait`, async t => {
    const lines = await lastLines(shell, 40)
    t.equal(lines.length, 40)
    t.match(JSON.parse(lines.at(-1) as string), { n: 39 })
  })
}

t.test('a process that ends writes its last line, even if earlier ones were dropped', async t => {
  const DONE = join(folder, 'done')
  // The reader begins when all lines are logged. Seven lines are one batch, and the last five do not fit any more.
  const lines = await lastLines(`mkfifo "$DONE"; ${RUN} | { read -r line < "$DONE"; cat; }`, 215, { DONE })
  t.ok(lines.length < 215)
  t.match(JSON.parse(lines.at(-1) as string), { n: 214 })
})

t.test('a report that throws does not end the host', async t => {
  const env = { PORT: '0', DATA_DIR: join(folder, 'reporting') }
  t.match(await gatewright(['migrate'], env), { code: 0 })
  const { db, close } = openDatabaseOf(env)
  // A chore that runs at the start reads it.
  await rows(db, 'drop table gw_unmatched_transfers')
  await close()
  const script = `
    const { readConfig, startHost } = await import(process.cwd() + '/packages/reference-host/dist/index.js')
    for (const fail of [() => { throw new Error('full') }, async () => { throw new Error('full') }]) {
      let reported = 0
      const report = error => { reported += 1; return fail(error) }
      const host = await startHost(readConfig(${JSON.stringify(env)}).value, { observe: report, report })
      const { status } = await fetch(host.url + '/healthz')
      await host.close()
      console.log(status, 'reported', reported > 0)
    }`
  const ended = await runNode(['--input-type=module', '-e', script], { PATH: process.env['PATH'] })
  t.match(ended, { code: 0, output: /^200 reported true\n[^]*^200 reported true$/m })
})
