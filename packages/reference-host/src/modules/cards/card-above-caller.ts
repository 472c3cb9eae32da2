import type { Policy, PolicyDocument } from '@gatewright/scope-guard'

/** Whether a policy limits money. */
export function hasMoneyMember({ document }: PolicyDocument): boolean {
  const { maxAuthAmountCents, dailySpendCapCents, dailyWithdrawalCapCents, limits } = document as Policy
  return (
    maxAuthAmountCents !== undefined ||
    dailySpendCapCents !== undefined ||
    dailyWithdrawalCapCents !== undefined ||
    (limits ?? []).some(({ maxCents }) => maxCents !== undefined)
  )
}

/**
 * Decides whether a card is bound by every policy of the caller that limits money: by a policy with the same id, or with the same
 * content, because clients send the same policy with each new session. Otherwise the caller could spend past its caps with the card.
 */
export function cardBindsCaller(
  callers: readonly PolicyDocument[],
  cards: readonly PolicyDocument[],
): boolean {
  const ids = new Set(cards.map(({ id }) => id))
  const contents = new Set(cards.map(({ document }) => canonical(document)))
  return callers
    .filter(hasMoneyMember)
    .every(({ id, document }) => ids.has(id) || contents.has(canonical(document)))
}

/** Writes a policy so that equal ones have equal texts. The order of members and entries means nothing, nor does a repeated entry. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${[...new Set(value.map(canonical))].sort().join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
  return `{${members.sort().join()}}`
}
