/** Matches a text whose first statement begins or ends a transaction. Spaces and comments before it are skipped. */
const CONTROL =
  /^(?:\s|--[^\n\r]*|\/\*[^]*?\*\/)*(?:begin|start\s+transaction|commit|end|abort|rollback(?!\s+to\b)|prepare\s+transaction)\b/i

/** A word, the start of a comment, a quoted name, or the start of a quoted text; otherwise any one character. */
const TOKEN =
  /[a-z_\u0080-\uffff][\w$\u0080-\uffff]*|--[^\n\r]*|\/\*|"(?:[^"]|"")*(?:"|$)|'|\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|[^]/iy

const PLAIN = /(?:[^']|'')*(?:'|$)/y
const ESCAPED = /(?:[^'\\]|\\[^]|'')*(?:'|$)/y

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : text.length
}

/** Returns where a block comment that starts before `from` ends. Postgres comments nest. */
function endOfComment(text: string, from: number): number {
  const edge = /\/\*|\*\//g
  edge.lastIndex = from
  for (let depth = 1; depth > 0; ) {
    const [found] = edge.exec(text) ?? []
    if (!found) return text.length
    depth += found === '/*' ? 1 : -1
  }
  return edge.lastIndex
}

/** Splits a text into statements, without comments and with the quoted parts replaced by `?`. */
function splitStatements(text: string, backslashes: boolean): string[] {
  let bare = ''
  let before = ''
  for (let at = 0; at < text.length; ) {
    TOKEN.lastIndex = at
    const [token = ''] = TOKEN.exec(text) ?? []
    at += token.length
    const dollars = /^\$.*\$$/.test(token)
    if (token === '/*') at = endOfComment(text, at)
    else if (token === "'") at = endOf(backslashes || /^e$/i.test(before) ? ESCAPED : PLAIN, text, at)
    else if (dollars) at = text.includes(token, at) ? text.indexOf(token, at) + token.length : text.length
    const comment = token === '/*' || token.startsWith('--')
    bare += comment ? ' ' : dollars || /^["']/.test(token) ? '?' : token
    before = token
  }
  return bare.split(';').filter(statement => statement.trim() !== '')
}

/**
 * Whether a text could begin or end a transaction: its first statement does so, or it has several statements, which Postgres
 * runs if the query has no parameter values. A setting of the server decides whether a backslash escapes a quote. The text is
 * read under both settings, and one with several statements under either of them counts.
 */
export function controlsTransaction(text: string): boolean {
  if (CONTROL.test(text)) return true
  if (!text.includes(';')) return false
  return [false, true].some(backslashes => {
    const [first = '', ...more] = splitStatements(text, backslashes)
    return more.length > 0 || CONTROL.test(first)
  })
}
