import type { Operation } from '@gatewright/host'
import { cancelOperations } from './cancel.ts'
import { changeCard } from './change.ts'
import { createCard } from './create.ts'
import { disposableOperations } from './disposable.ts'
import { listCards, readCard } from './read.ts'
import { openSecrets, revealCard } from './secrets.ts'
import type { CardServices } from './services.ts'

/** Makes the operations on cards, on both surfaces. Those that need an issuer are served only if the host has one. */
export function cardOperations(
  services: Pick<
    CardServices,
    'cardKeyPolicies' | 'clock' | 'db' | 'issuer' | 'providers' | 'requirements' | 'sealer'
  >,
): Operation[] {
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
