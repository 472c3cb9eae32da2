import t from 'tap'
import { cardUser } from '../harness/card-payments.ts'
import { gatewright as runGatewright, type Ran } from '../../harness/gatewright.ts'
import { bootstrapUser, startTestHost } from '../../harness/host.ts'
import { temporaryFolder } from '../../harness/files.ts'

const dataDir = temporaryFolder(t)
const gatewright = (...args: string[]): Promise<Ran> => runGatewright(args, { PORT: '0', DATA_DIR: dataDir })

t.test('reverses an authorization by hand, once, and the books agree', async t => {
  const host = await startTestHost({ DATA_DIR: dataDir })
  const { token } = await bootstrapUser(host.send)
  const user = cardUser(host.send, token)
  await user.fund(500)
  const { id } = await user.pay(await user.card(), { amountCents: 120 })
  await host.close()
  t.match(await gatewright('authorizations', 'reverse', id), { code: 2, output: /--yes/ })
  const reversed = await gatewright('authorizations', 'reverse', id, '--yes')
  t.match(reversed, { code: 0, output: new RegExp(`^${id} is reversed; 1\\.20 USD are back`) })
  t.match(await gatewright('authorizations', 'reverse', id, '--yes'), {
    code: 1,
    output: /is reversed: it holds nothing/,
  })
  t.match(await gatewright('authorizations', 'reverse', 'auth_no', '--yes'), {
    code: 1,
    output: /no authorization/,
  })
  t.match(await gatewright('ledger', 'check'), { code: 0, output: /no differences/ })
})
