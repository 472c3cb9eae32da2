import { readFileSync } from 'node:fs'
import t from 'tap'
import { pages } from './pages.ts'

for (const [path, make] of Object.entries(pages)) {
  t.test(`${path} is what npm run docs:update writes`, async t => {
    t.equal(readFileSync(path, 'utf8'), await make())
  })
}
