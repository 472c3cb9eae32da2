import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { kept, redisBinaries } from './binaries.ts'
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

t.test(
  'of two processes that make the same folder of the cache, one keeps it, and none keeps a half',
  async t => {
    const cache = temporaryFolder(t)
    const { XDG_CACHE_HOME: before } = process.env
    process.env['XDG_CACHE_HOME'] = cache
    t.teardown(() => {
      if (before === undefined) delete process.env['XDG_CACHE_HOME']
      else process.env['XDG_CACHE_HOME'] = before
    })
    const folders = (): string[] => readdirSync(join(cache, 'gatewright-tests'))
    const has = 'tool'
    const by = (who: string) => (folder: string) => writeFileSync(join(folder, has), who)
    const folder = kept('made', {
      has,
      make(folder) {
        by('the slower')(folder)
        kept('made', { has, make: by('the faster') })
      },
    })
    t.equal(readFileSync(join(String(folder), has), 'utf8'), 'the faster')
    const never = (): never => t.fail('it is made again') as never
    t.equal(kept('made', { has, make: never }), folder)

    const stopped = new Error('stopped half way')
    const half = (folder: string): void => {
      writeFileSync(join(folder, 'library'), '')
      throw stopped
    }
    t.throws(() => kept('half', { has, make: half }), stopped)
    t.equal(kept('half', { has, make: folder => writeFileSync(join(folder, 'library'), '') }), undefined)
    t.same(folders(), ['made'])

    const old = join(cache, 'gatewright-tests', 'old')
    mkdirSync(old)
    writeFileSync(join(old, 'library'), 'of an older version')
    t.equal(kept('old', { has, make: by('this version') }), old)
    t.same(readdirSync(old), [has])
    t.same(folders(), ['made', 'old'])
  },
)
