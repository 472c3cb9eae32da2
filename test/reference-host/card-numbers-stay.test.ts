import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { gatewright } from '../harness/gatewright.ts'
import { partnerOwner, revealed, sessionOwner, userOwner } from './harness/cards.ts'
import { openTestHost, startTestHost } from '../harness/host.ts'
import { temporaryFolder } from '../harness/files.ts'

t.test('numbers and keys are in no file, event or metric, and are the same after a restart', async t => {
  const dataDir = temporaryFolder(t)
  const env = { DATA_DIR: dataDir }
  const host = await startTestHost(env)
  const [user, partner] = [await userOwner(host), await partnerOwner(host)]
  const id = user.idOf(await user.make())
  const other = partner.idOf(await partner.make())
  const [one, two] = [await revealed(user, id), await revealed(partner, other)]
  await user.call('/cards/disposable/proposals', { body: { amountCents: 100 } })
  const notifications = await user.call('/notifications')
  const said = [
    JSON.stringify(host.decisions),
    await (await fetch(`${host.url}/metrics`)).text(),
    host.failures.map(String).join(),
    JSON.stringify([notifications.body, one.response.body, two.response.body]),
  ]
  await host.close()
  const files = readdirSync(dataDir).map(name => readFileSync(join(dataDir, name)).toString('latin1'))
  t.ok(files.join('').includes(id), 'the database was read')
  const listed = await gatewright(['jobs', 'list', '--json'], { PORT: '0', ...env })
  for (const secret of [one.pan, two.pan, one.secretKey, two.secretKey, `"${one.cvc}"`, `"${two.cvc}"`])
    for (const text of [...files, ...said, listed.output]) t.notOk(text.includes(secret))

  const again = await startTestHost(env)
  t.match(await revealed(sessionOwner(again, user.token), id), { pan: one.pan, cvc: one.cvc })
  await again.close()
})

t.test('the operator cancels a card, and the cards of a key', async t => {
  const dataDir = temporaryFolder(t)
  const env = { PORT: '0', DATA_DIR: dataDir }
  const host = await startTestHost({ DATA_DIR: dataDir })
  const [one, two] = [await userOwner(host), await userOwner(host)]
  const [card, , kept] = [await one.make(), await one.make(), await two.make()]
  const keyId = (await one.call('/identity')).body.data['identity'] as { keyId: string }
  await host.close()
  const run = (...args: string[]) => gatewright(['cards', 'cancel', ...args], env)
  t.match(await run('--yes'), { code: 2, output: /give either CARD or --key KEY, not both/ })
  t.match(await run('card_none', '--yes'), { code: 1, output: /no card card_none/ })
  t.match(await run('--key', 'none', '--yes'), { code: 1, output: /no key none/ })
  t.match(await run(one.idOf(card)), { code: 2, output: /needs --yes/ })
  t.match(await run(one.idOf(card), '--yes'), { code: 0, output: /^Cards canceled: 1/m })
  t.match(await run(one.idOf(card), '--yes', '--json'), { code: 0, output: /"canceled": ?0/ })
  t.match(await run('--key', keyId.keyId, '--yes'), { code: 0, output: /^Cards canceled: 1/m })
  const again = await openTestHost(t, { DATA_DIR: dataDir })
  const read = await sessionOwner(again, one.token).call(`/cards/${one.idOf(card)}`)
  t.match(one.cardOf(read), { status: 'canceled', cancelReason: 'operator', canceledAt: String })
  const other = await sessionOwner(again, two.token).call(`/cards/${two.idOf(kept)}`)
  t.equal(two.cardOf(other)['status'], 'active')
})
