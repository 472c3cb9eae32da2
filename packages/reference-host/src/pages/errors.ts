import { docsLink } from '@gatewright/kernel/internal'
import { errorAdvice, errorCodes, ruleMeanings } from '../product/errors.ts'
import { escapeText } from './escape.ts'

/** Makes the lists of `/errors`: an anchor for each code and for each rule of `policy_blocked`. */
export function errorSections(): string {
  const codes = Object.entries(errorCodes)
    .toSorted(([a, status], [b, other]) => status - other || a.localeCompare(b))
    .map(([code, status]) => entry(code, ` <span class="muted">${status}</span>`, adviceOf(code)))
  const rules = Object.entries(ruleMeanings).map(([rule, meaning]) => entry(rule, '', meaning))
  return `<h2>Codes</h2><dl class="errors">${codes.join('')}</dl>
<h2>Rules of <code>policy_blocked</code></h2><dl class="errors">${rules.join('')}</dl>`
}

function adviceOf(code: string): string {
  return (errorAdvice as Readonly<Record<string, string>>)[code] ?? ''
}

function entry(name: string, beside: string, text: string): string {
  return `<dt id="${name}"><code>${name}</code>${beside}</dt><dd>${inline(text)}</dd>`
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
