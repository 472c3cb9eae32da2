import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { createPrivateFile, replacePrivateFile } from '@gatewright/host/internal/commands'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../../harness/files.ts'

/** What workers and processes load: not all of the package. */
const MODULE = resolve('packages/host/dist/storage/private-file.js')

function folderOf(t: Test): string {
  const folder = temporaryFolder(t)
  return folder
}

t.test('creates a file for its owner only, and never replaces one', t => {
  const folder = join(folderOf(t), 'new')
  const path = join(folder, 'file')
  t.equal(createPrivateFile(path, 'one'), true)
  t.equal(createPrivateFile(path, 'two'), false)
  t.equal(readFileSync(path, 'utf8'), 'one')
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(statSync(folder).mode & 0o777, 0o700)
  t.same(readdirSync(folder), ['file'], 'nothing else is left')
  t.end()
})

t.test('replaces a file that others could read by one that they cannot', t => {
  const folder = folderOf(t)
  const path = join(folder, 'file')
  writeFileSync(path, 'old', { mode: 0o644 })
  replacePrivateFile(path, 'new')
  t.equal(readFileSync(path, 'utf8'), 'new')
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.throws(() => replacePrivateFile(folder, 'x'), { code: /EISDIR|ENOTEMPTY|EEXIST/ })
  t.same(readdirSync(folder), ['file'], 'nothing else is left')
  t.end()
})

t.test('leaves no part of a file where there is no room for the whole', t => {
  const folder = folderOf(t)
  for (const write of ['createPrivateFile', 'replacePrivateFile']) {
    const code = `import { ${write} } from '${MODULE}'; ${write}('${folder}/file', 'x'.repeat(100_000))`
    const limited = `ulimit -f 16 && exec "$0" --input-type=module -e "$1"`
    const { status, stderr } = spawnSync('sh', ['-c', limited, process.execPath, code], { encoding: 'utf8' })
    t.equal(status, 1)
    t.match(stderr, /EFBIG/)
    t.same(readdirSync(folder), [])
  }
  t.end()
})

t.test('of several that create a file at once, one succeeds, and all read its whole text', async t => {
  const folder = folderOf(t)
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const code = `const { workerData, parentPort } = require('node:worker_threads')
    const { readFileSync } = require('node:fs')
    void import(workerData.module).then(({ createPrivateFile }) => {
      parentPort.postMessage('ready')
      Atomics.wait(workerData.gate, 0, 0)
      for (let round = 0; round < 20; round++) {
        const path = workerData.folder + '/' + round
        const created = createPrivateFile(path, String(workerData.index).repeat(5000))
        parentPort.postMessage({ round, created, text: readFileSync(path, 'utf8') })
      }
    })`
  const seen: { round: number; created: boolean; text: string }[] = []
  let ready = 0
  await Promise.all(
    [1, 2, 3, 4].map(index => {
      const worker = new Worker(code, { eval: true, workerData: { module: MODULE, gate, folder, index } })
      worker.on('message', (message: 'ready' | (typeof seen)[number]) => {
        if (message !== 'ready') return void seen.push(message)
        ready += 1
        if (ready < 4) return
        Atomics.store(gate, 0, 1)
        Atomics.notify(gate, 0)
      })
      return new Promise(resolve => worker.once('exit', resolve))
    }),
  )
  for (let round = 0; round < 20; round++) {
    const all = seen.filter(each => each.round === round)
    t.equal(all.length, 4)
    t.equal(all.filter(({ created }) => created).length, 1)
    t.equal(new Set(all.map(({ text }) => text)).size, 1)
    t.equal(all[0]?.text.length, 5000)
  }
})
