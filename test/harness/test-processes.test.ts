import t from 'tap'
import { filesBelow } from './files.ts'
import { processesOf } from './test-processes.ts'

const sources = filesBelow('test', '.test.ts')

t.test('every test file runs once in this process or another', async t => {
  const files = processesOf(sources, { everyStore: false }).flatMap(process => process.files)
  t.same(files.toSorted(), sources.map(file => `build/${file.replace(/ts$/, 'js')}`).toSorted())
})

t.test('the suites of the host run again on each store', async t => {
  const again = processesOf(sources, { everyStore: true }).filter(({ env }) => env)
  const expected = {
    postgres: ['modules/keys/keys', 'http/errors'],
    'postgres+redis': ['modules/keys/keys', 'modules/subscriptions/api/create', 'http/errors'],
  }
  for (const [stores, names] of Object.entries(expected)) {
    const files = again
      .filter(({ env }) => env?.['TEST_HOST_STORES'] === stores)
      .flatMap(process => process.files)
    for (const name of names)
      t.ok(files.includes(`build/test/reference-host/${name}.test.js`), `${name} on ${stores}`)
  }
})
