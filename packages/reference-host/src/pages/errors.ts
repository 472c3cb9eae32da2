import { docsLink } from '@gatewright/kernel/internal'
import { errorExamples, ruleExamples } from '../product/error-examples.ts'
import { errorAdvice, errorCodes, ruleMeanings } from '../product/errors.ts'
import { escapeText } from './escape.ts'

/** Makes the lists of `/errors`: links to all entries, then for each code and each rule of `policy_blocked` an anchor, what it means and an example. */
export function errorSections(): string {
  const codes = Object.keys(errorCodes) as (keyof typeof errorCodes)[]
  const rules = Object.keys(ruleMeanings) as (keyof typeof ruleMeanings)[]
  const sorted = codes.toSorted((a, b) => errorCodes[a] - errorCodes[b] || a.localeCompare(b))
  const ofCodes = sorted.map(code =>
    entry({ anchor: code, name: code, beside: String(errorCodes[code]), text: errorAdvice[code] }, [
      code,
      errorExamples[code],
    ]),
  )
  const ofRules = rules.map(rule =>
    entry({ anchor: `policy_blocked.${rule}`, name: rule, beside: '', text: ruleMeanings[rule] }, [
      'policy_blocked',
      { rule, ...ruleExamples[rule] },
    ]),
  )
  return `<nav class="errors-index" aria-label="On this page">
<h2>Codes</h2><p>${sorted.map(code => link(code, code)).join(' ')}</p>
<h2>Rules</h2><p>${rules.map(rule => link(`policy_blocked.${rule}`, rule)).join(' ')}</p></nav>
<h2>Codes</h2><dl class="errors">${ofCodes.join('')}</dl>
<h2>Rules of <code>policy_blocked</code></h2><dl class="errors">${ofRules.join('')}</dl>`
}

const link = (anchor: string, name: string): string => `<a href="#${anchor}"><code>${name}</code></a>`

interface Entry {
  readonly anchor: string
  readonly name: string
  readonly beside: string
  readonly text: string
}

function entry({ anchor, name, beside, text }: Entry, [error, members]: [string, object]): string {
  const example = escapeText(JSON.stringify({ error, ...members }, undefined, 2))
  const muted = beside === '' ? '' : ` <span class="muted">${beside}</span>`
  return `<dt id="${anchor}"><code>${name}</code>${muted}</dt><dd>${inline(text)}<pre>${example}</pre></dd>`
}

/** Renders the code and the links of a sentence. */
function inline(text: string): string {
  return escapeText(text)
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(
      /\[([^\]]+)\]\(([^)]+)\)/g,
      (_, label: string, page: string) => `<a href="${docsLink(page)}">${label}</a>`,
    )
}
