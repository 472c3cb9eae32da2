import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '@gatewright/reference-host'
import t from 'tap'
import { temporaryFolder } from '../../harness/files.ts'

const directory = temporaryFolder(t)
const PLANS_FILE = join(directory, 'plans.json')
const read = (text: string): ReturnType<typeof readConfig> => {
  writeFileSync(PLANS_FILE, text)
  return readConfig({ PLANS_FILE })
}
const plan = { id: 'gold', title: 'Gold', amountCents: 9900, interval: 'year' }

t.test('reads the plans of a file, also an empty list', async t => {
  t.match(read(JSON.stringify({ plans: [plan] })), { ok: true, value: { plans: [plan] } })
  t.match(read('{"plans":[]}'), { ok: true, value: { plans: [] } })
})

t.test('names the wrong field and plan, and shows an example file', async t => {
  for (const [text, problem] of [
    ['{', /^PLANS_FILE must be the path of a JSON file such as \{/],
    ['[]', /^PLANS_FILE must hold a JSON object such as/],
    ['{}', /^PLANS_FILE is not valid: plans is required/],
    [
      JSON.stringify({ plans: [plan, { ...plan, id: 'b', amountCents: 0 }] }),
      /plans\.1\.amountCents must be at least 1/,
    ],
    [
      JSON.stringify({ plans: [{ ...plan, interval: 'week' }] }),
      /plans\.0\.interval must be one of month, year/,
    ],
    [
      JSON.stringify({ plans: [{ ...plan, title: 'Zoe\u0301' }] }),
      /plans\.0\.title must be well-formed Unicode/,
    ],
    [JSON.stringify({ plans: [{ ...plan, price: 5 }] }), /plans\.0 must not have the member price/],
    [JSON.stringify({ plans: [plan, plan] }), /lists the plan gold twice/],
  ] as const) {
    const config = read(text)
    t.match(config.ok ? [] : config.problems, [problem])
  }
})
