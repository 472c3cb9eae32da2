import type { Operation } from '@gatewright/host'
import type { ModuleServices } from '../services.ts'
import { cancelOperations } from './cancel.ts'
import { changeCard } from './change.ts'
import { createCard } from './create.ts'
import { disposableOperations } from './disposable.ts'
import { listCards, readCard } from './read.ts'
import { openSecrets, revealCard } from './secrets.ts'

/** Makes the operations on cards, on both surfaces. Those that need an issuer are served only if the host has one. */
export function cardOperations(services: ModuleServices): Operation[] {
  const { providers } = services
  return [
    ...(['user', 'partner'] as const).flatMap(surface => [
      listCards(surface, services),
      readCard(surface, services),
      changeCard(surface, services),
      ...(providers.cards
        ? [createCard(surface, services), openSecrets(surface, services), revealCard(surface, services)]
        : []),
    ]),
    ...(providers.cards ? disposableOperations(services) : []),
    ...cancelOperations(services),
  ]
}
