// A host of one module. Run it with `node build/examples/own-host/host.js`; its variables are those of docs/configuration.md.
import { pathToFileURL } from 'node:url'
import { runHost, type HostServices, type Product, type StartedHost } from '@gatewright/host'
import { readHostConfig } from '@gatewright/host/config'
import { scopeCatalogue } from '@gatewright/kernel'
import { tipModule } from './tips.ts'

export const product: Product<HostServices> = {
  modules: [tipModule],
  scopes: scopeCatalogue(['tips.read', 'tips.write']),
}

/** Starts the host with the configuration of an environment. */
export async function startOwnHost(env: NodeJS.ProcessEnv): Promise<StartedHost<HostServices>> {
  const config = readHostConfig(env)
  if (!config.ok) throw new Error(config.problems.join('\n'))
  return runHost(config.value, product, {
    observe: ({ operation, status }) => console.log(operation ?? '-', status),
    report: error => console.error(error),
  })
}

/** A key and a session of an account. In a product of your own, the code that signs your users in does this. */
export async function newSession(
  { issuer }: HostServices,
  accountId: string,
  policy?: object,
): Promise<string> {
  const owner = { surface: 'user', accountId, userId: accountId, walletAddress: null } as const
  const created = await issuer.createKey({ ...owner, scopes: product.scopes.names, policy })
  if (!created.ok) throw new Error(created.message)
  const session = await issuer.issueSession(created.value.key)
  if (!session.ok) throw new Error(session.message)
  return session.value.token
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const host = await startOwnHost(process.env)
  const token = await newSession(host.services, 'ann', { dailySpendCapCents: 1000 })
  console.log(`\ncurl -s ${host.url}/user/v1/tips -H 'Authorization: Bearer ${token}'\n`)
  process.once('SIGINT', () => void host.close())
}
