import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { redisBinaries } from './binaries.ts'
import { startRedis } from './services.ts'

t.test("starts Debian's redis-server, a link to redis-check-rdb, under the name it was found by", async t => {
  const real = redisBinaries()
  const folder = mkdtempSync(join(tmpdir(), 'gatewright-link-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  copyFileSync(join(real.directory, real.server), join(folder, 'redis-check-rdb'))
  symlinkSync('redis-check-rdb', join(folder, 'redis-server'))
  const environment = { ...process.env }
  t.teardown(() => Object.assign(process.env, { PATH: environment['PATH'] }))
  process.env['PATH'] = folder
  t.match(redisBinaries(), { directory: folder, server: 'redis-server' })
  Object.assign(process.env, real.env)
  const redis = await startRedis([])
  t.equal(redis.from, 'the machine')
  await redis.stop()
})
