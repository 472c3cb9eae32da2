/** The terminal that a command prints to. Without one, output is for programs: full tables, instants in RFC 3339, money in cents. */
export interface Terminal {
  /** Columns. A terminal that does not know its width says 0: nothing is cut. */
  readonly width: number
  /** Whether it shows colours. */
  readonly colors: boolean
}

/**
 * Characters that control a terminal or change how a line reads: control characters, line separators, characters that change the
 * direction of text, and lone surrogates.
 */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu

/** Shows characters that control a terminal as escapes such as `\u001b`, so that a text of a client or a server stays in its line. */
export function escapedLine(text: string): string {
  return text.replace(
    CONTROLS,
    character => `\\u${(character.codePointAt(0) as number).toString(16).padStart(4, '0')}`,
  )
}

/** As `escapedLine`, for a text of several lines. In JSON text the escapes mean the same characters. */
export function escapedText(text: string): string {
  return text.split('\n').map(escapedLine).join('\n')
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const

/** A colour or weight of text. */
export type Style = keyof typeof CODES

/** Returns a text in a style, if the terminal shows colours. */
export function styled(text: string, style: Style | undefined, terminal: Terminal | undefined): string {
  if (style === undefined || !terminal?.colors) return text
  return `\u001b[${CODES[style]}m${text}\u001b[0m`
}

/** Characters that take two columns of a terminal: East Asian scripts and pictographs. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{20000}-\u{3fffd}]/u
const NO_WIDTH = /\p{Mn}|\p{Me}|\p{Cf}/u

function widthOf(character: string): number {
  if (NO_WIDTH.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** How many columns a text takes. */
export function displayWidth(text: string): number {
  let total = 0
  for (const character of text) total += widthOf(character)
  return total
}

/** Cuts a text to a number of columns, with an ellipsis. */
export function cut(text: string, width: number): string {
  if (displayWidth(text) <= width) return text
  let [kept, used] = ['', 0]
  for (const character of text) {
    used += widthOf(character)
    if (used > width - 1) break
    kept += character
  }
  return `${kept}…`
}

/** Breaks a text at spaces into lines of at most `width` columns. A longer word, such as an id, is a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && displayWidth(last) + 1 + displayWidth(word) <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
