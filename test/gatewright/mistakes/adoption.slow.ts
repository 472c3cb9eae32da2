// What a team gets to see of the mistakes that it may make when it adopts the package: when, and with what words.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { HANDLERS } from './adoption/handlers.ts'
import { MOUNTS } from './adoption/mounts.ts'
import { OPTIONS, RULES } from './adoption/options.ts'
import { AMOUNTS, CREDENTIALS } from './adoption/requests.ts'
import { STORES } from './adoption/stores.ts'
import { tried, type Shows } from './adoption/trial.ts'
import { UNSEEN } from './adoption/unseen.ts'

const TABLE = {
  'the options of the server': OPTIONS,
  'rules and policies': RULES,
  'what clients send': CREDENTIALS,
  amounts: AMOUNTS,
  handlers: HANDLERS,
  'order and place': MOUNTS,
  stores: STORES,
}
const counts: Record<Shows, number> = { 'at start': 0, 'at the first request': 0, never: 0 }

for (const [part, mistakes] of Object.entries(TABLE))
  t.test(`a mistake shows, with words that say what to write: ${part}`, async t => {
    for (const each of mistakes) {
      const { shows, text } = await tried(each)
      t.equal(shows, each.shows, `${each.mistake}: ${text}`)
      counts[shows]++
      t.comment(`${shows}: ${each.mistake}: ${text.split('\n')[0]?.slice(0, 120)}`)
    }
  })

t.test('a mistake that no code can notice is documented with a check', async t => {
  const page = readFileSync('docs/mistakes.md', 'utf8')
  for (const each of UNSEEN) {
    const { shows, text } = await tried(each)
    t.equal(shows, 'never', each.mistake)
    t.notMatch(text, /^gatewright: (?!payments\.create got)/m, `${each.mistake} is silent`)
    t.match(page, each.says)
    counts.never++
  }
  t.equal(page.match(/^\| (?!Mistake|-)/gm)?.length, UNSEEN.length, 'the page has no other row')
  t.comment(`mistakes by when they show: ${JSON.stringify(counts)}`)
})
