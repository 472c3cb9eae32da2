import type { HostServices, Module } from '@gatewright/host'
import type { Verifier } from '@gatewright/signature-verifier'
import type { WebTokens } from '@gatewright/host/internal'
import type { UserStore } from '../users/store.ts'
import type { ChallengeCodec } from './challenge.ts'
import { collectRequests } from './cli-requests.ts'
import { cliOperations } from './cli.ts'
import { openConsole } from './console.ts'
import { signInRedirects } from './redirects.ts'
import { signInOperations } from './sign-in.ts'

/** What this part of the product works with. */
interface WebSignInServices extends HostServices {
  readonly challenges: ChallengeCodec
  readonly verifier: Verifier
  readonly users: UserStore
  readonly webTokens: WebTokens
}

/** Sign-in with a wallet in a browser, for its console and for command lines. */
export const webSignInModule: Module<WebSignInServices> = {
  operations: services => [
    ...signInOperations(services),
    openConsole(services),
    ...cliOperations(services),
    ...signInRedirects(),
  ],
  collectors: ({ db, clock }) => [limit => collectRequests(db, limit, clock.now())],
}
