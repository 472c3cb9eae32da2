/** After spaces and comments, a statement that begins or ends a transaction. */
const CONTROL =
  /^(?:\s|--[^\n\r]*|\/\*[^]*?\*\/)*(?:begin|start\s+transaction|commit|end|abort|rollback(?!\s+to\b)|prepare\s+transaction)\b/i

/** A word, a comment's opening, a quoted name, or the opening of a quoted text; else any one character. */
const TOKEN =
  /[a-z_\u0080-\uffff][\w$\u0080-\uffff]*|--[^\n\r]*|\/\*|"(?:[^"]|"")*(?:"|$)|'|\$(?:[a-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|[^]/iy

const PLAIN = /(?:[^']|'')*(?:'|$)/y
const ESCAPED = /(?:[^'\\]|\\[^]|'')*(?:'|$)/y

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : text.length
}

/** Where a comment that opened before `from` ends; in Postgres comments nest. */
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

/** The statements of a text, without its comments and with nothing in its quotes. */
function statements(text: string, backslashes: boolean): string[] {
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
 * Whether a text could begin or end a transaction: by its first statement, or by holding more than one. Postgres
 * runs several statements in a text that comes without values. Whether a backslash in a plain text hides a quote
 * is a setting of the server: a text that holds several in either reading is refused.
 */
export function controlsTransaction(text: string): boolean {
  if (CONTROL.test(text)) return true
  if (!text.includes(';')) return false
  return [false, true].some(backslashes => {
    const [first = '', ...more] = statements(text, backslashes)
    return more.length > 0 || CONTROL.test(first)
  })
}
