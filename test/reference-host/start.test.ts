import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { spawnHost } from '../harness/host.ts'
import { temporaryFolder } from '../harness/files.ts'
import { partnerKeyIn, paste } from './harness/printed-start.ts'

const top = temporaryFolder(t)

// The folder as a person has it: `.data`.
const folder = join(top, '.data')
const host = await spawnHost(folder, { OPERATOR_PAGE: 'on', OPERATOR_PORT: '0' })
const key = partnerKeyIn(folder)

t.test(
  'names its addresses and the file of the partner key at 80 columns, with curl lines that work as pasted',
  async t => {
    const printed = host.output().replaceAll(top, '')
    const wide = printed.split('\n').filter(line => line.length > 80)
    t.same(wide, [], 'no line is longer than 80 characters')
    t.match(printed, /Opening .* s\n/)
    const demo = `npm run demo -- ${host.url}\n`
    for (const name of ['Home', 'Console', 'API docs', 'Operator', demo, '.data/partner-key'])
      t.ok(printed.includes(name), name)
    t.notMatch(printed, /gw_sandbox_partner_\w+/, 'the key is only in its file')
    t.match(key, /^gw_sandbox_partner_\w+$/)
    t.equal(statSync(join(folder, 'partner-key')).mode & 0o777, 0o600)
    t.match(await paste(host.output()), /"userId":"user-1"/)
  },
)

t.test('uses its data folder alone', async t => {
  await t.rejects(spawnHost(folder), /DATA_DIR .* is in use by another host/, 'one process per data folder')
})

t.test('lists every configuration problem and exits with 1', async t => {
  await t.rejects(
    spawnHost(folder, { PORT: 'x', GATEWRIGHT_ENV: 'prod' }),
    /exit 1[^]*PORT must[^]*GATEWRIGHT_ENV must/,
  )
})

t.test('names the port that is in use', async t => {
  const other = join(top, 'other')
  const { port } = new URL(host.url)
  await t.rejects(spawnHost(other, { PORT: port }), /exit 1[^]*PORT \d+ is in use/)
  t.notOk(existsSync(join(other, 'partner-key')), 'the failed start did not create the key')
})

t.test('ends with code 0 on SIGTERM', async t => t.equal(await host.stop('SIGTERM'), 0))
