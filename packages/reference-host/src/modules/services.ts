import type { Clock } from '@gatewright/kernel'
import type { Aliases } from '@gatewright/legacy-alias-router'
import type { Issuer } from '@gatewright/session-issuer'
import type { Verifier } from '@gatewright/signature-verifier'
import type { CardStore } from './cards/store.ts'
import type { PayinStore } from './subscriptions/store.ts'
import type { UserStore } from './users/store.ts'

/** What modules are made of; each takes what it names. */
export interface ModuleServices {
  readonly clock: Clock
  readonly aliases: Aliases
  readonly verifier: Verifier
  readonly issuer: Issuer
  readonly users: UserStore
  readonly cards: CardStore
  readonly payins: PayinStore
}
