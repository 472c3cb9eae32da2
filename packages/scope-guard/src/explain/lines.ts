import { blockMessage, dollars, utcMinute, WINDOW_WORDS } from '../policies/block-words.ts'
import type { PredicateResult } from '../policies/predicates.ts'
import { isRolling } from '../policies/rolling.ts'
import type { ExplainedRule, Explanation } from './explanation.ts'

const COLUMNS = 80
const INDENT = ' '.repeat(10)

/** Writes an explanation for people: the decision, and below it the rules of each policy. */
export function explanationLines(
  decision: Explanation['decision'],
  rules: readonly ExplainedRule[],
  results: readonly PredicateResult[],
): string[] {
  const verdict = decision.ok
    ? 'Allowed.'
    : `Denied (${decision.status} ${decision.code}): ${decision.message}`
  const policyIds = [...new Set(rules.map(({ policyId }) => policyId))].sort()
  const blockOf = ({ policyId, rule }: ExplainedRule): string | undefined => {
    const result = results.find(({ block }) => block.policyId === policyId && block.rule === rule)
    return result && blockMessage(result.block)
  }
  return [
    ...wrapped(verdict, ''),
    ...policyIds.flatMap(id => [
      id,
      ...rules
        .filter(({ policyId }) => policyId === id)
        .flatMap(rule => wrapped(`  ${rule.outcome.padEnd(8)}${ruleWords(rule, blockOf(rule))}`, INDENT)),
    ]),
    ...(policyIds.length === 0 ? ['No policy has a rule.'] : []),
  ]
}

function ruleWords(
  { rule, outcome, binds, cap, requested }: ExplainedRule,
  message: string | undefined,
): string {
  const mark = binds ? ' (binds)' : ''
  if (cap) return `${rule}${mark}: ${capWords(cap, requested)}`
  const blocked = rule === 'currency' ? blockMessage({ rule, policyId: '' }) : message
  return outcome === 'blocks' && blocked !== undefined ? `${rule}${mark}: ${blocked}` : `${rule}${mark}`
}

function capWords(
  {
    rule,
    unit,
    window,
    timeZone,
    cap,
    used,
    held = 0,
    remaining,
    operations,
    resetsAt,
    alertAtPercent,
  }: NonNullable<ExplainedRule['cap']>,
  requested: number | undefined,
): string {
  const size = (value: number): string => (unit === 'cents' ? dollars(value) : `${value} calls`)
  const left =
    window === 'operation'
      ? `${rule === 'approveAboveCents' ? 'approval above' : 'at most'} ${size(cap)} at once`
      : used === undefined
        ? `${size(cap)} ${WINDOW_WORDS[window]}, which this server cannot count`
        : `${size(remaining)} left of ${size(cap)} ${WINDOW_WORDS[window]}${rule === 'approveAboveCents' ? ' without an approval' : ''}`
  return [
    left,
    ...(held > 0 ? [`${size(held)} held for open calls`] : []),
    ...(requested === undefined ? [] : [`${size(requested)} requested`]),
    ...(operations === undefined ? [] : [`for ${operations.join(' ')}`]),
    ...(resetsAt === null
      ? []
      : [`${isRolling(window) ? 'first part free' : 'resets'} at ${utcMinute(resetsAt)}`]),
    ...(timeZone === undefined ? [] : [`in ${timeZone}`]),
    ...(alertAtPercent === undefined ? [] : [`alert at ${alertAtPercent} %`]),
  ].join(', ')
}

/** Breaks a text into lines at spaces. A word that is longer than a line stays whole. */
function wrapped(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/(?<=\S) /)) {
    const longer = line === '' ? word : `${line} ${word}`
    if (longer.length <= COLUMNS || line.trim() === '') {
      line = longer
    } else {
      lines.push(line)
      line = indent + word
    }
  }
  return [...lines, line]
}
