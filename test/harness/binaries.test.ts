import { copyFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { redisBinaries } from './binaries.ts'
import { startRedis } from './services.ts'
import { temporaryFolder } from './files.ts'

t.test("starts Debian's redis-server, a link to redis-check-rdb, under the name it was found by", async t => {
  const real = redisBinaries()
  const folder = temporaryFolder(t)
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
