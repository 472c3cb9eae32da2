import type { HostServices, Module } from '@gatewright/host'
import type { Verifier } from '@gatewright/signature-verifier'
import type { UserStore } from '../users/store.ts'
import { bootstrap } from './bootstrap.ts'

/** What this part of the product works with. */
interface AuthServices extends HostServices {
  readonly verifier: Verifier
  readonly users: UserStore
}

/** The first key of a wallet. */
export const authModule: Module<AuthServices> = {
  operations: services => [bootstrap(services)],
}
