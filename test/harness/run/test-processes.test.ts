import t from 'tap'
import { filesBelow } from '../files.ts'
import { compiled, ON_EVERY_STORE, onOtherStores, ownSuites, processesOf } from './test-processes.ts'

const sources = ['.test.ts', '.slow.ts'].flatMap(end => filesBelow('test', end))

t.test('every test file runs once in this process or another', async t => {
  const files = processesOf(sources).flatMap(process => process.files)
  t.same(files.toSorted(), sources.map(file => `build/${file.replace(/ts$/, 'js')}`).toSorted())
})

t.test(
  'every suite of the host runs once on Postgres with Redis and once on SQLite, with the short suites or with the slow ones',
  async t => {
    const everything = filesBelow('test', '.ts')
    const filesOn = (stores: string, slow: boolean): string[] =>
      onOtherStores(everything, { slow })
        .filter(({ env }) => env?.['TEST_HOST_STORES'] === stores)
        .flatMap(process => process.files)
    const [short, slow] = [filesOn('postgres+redis', false), filesOn('postgres+redis', true)]
    const all = everything.filter(file => ON_EVERY_STORE.test(file)).map(compiled)
    t.same([...short, ...slow].toSorted(), all.toSorted())
    const file = (name: string): string => `build/test/reference-host/${name}.js`
    t.ok(short.includes(file('modules/withdrawals/withdrawals.test')))
    const embedded = [
      ...ownSuites(everything, { slow: false }).map(compiled),
      ...ownSuites(everything, { slow: true }).map(compiled),
      ...filesOn('embedded', true),
    ]
    t.same(embedded.toSorted(), sources.map(compiled).toSorted())
    t.same(filesOn('embedded', true), short)
    t.ok(slow.includes(file('modules/texts.slow')))
    t.ok(filesOn('postgres', true).includes(file('modules/keys/keys.test')))
    t.same(filesOn('postgres', false), [])
  },
)
