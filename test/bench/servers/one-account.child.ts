// A host on the stores of its environment. The requests to it bring the tokens and the wallets of two users with money.
import { bearer, request } from '../../harness/host.ts'
import { moneyUser } from '../../harness/money.ts'
import { startBenchHost } from '../bench-host.ts'
import { listening } from '../serve.ts'

const [env = '{}'] = process.argv.slice(2)
const { host, users } = await startBenchHost(JSON.parse(env) as Record<string, string>, 2)
for (const user of users) {
  const funded = await moneyUser((path, options) => request(host.url, path, options), user).fund(100_000_000)
  if (funded.status !== 200) throw new Error(`no play money: ${funded.status}`)
}
const fields = users.map(user => ({ ...bearer(user.token), 'x-wallet': user.address }))
listening(Number(new URL(host.url).port), fields)
