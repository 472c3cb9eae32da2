const dollars = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Formats cents as dollars, such as `1,234.50`, with the minus character U+2212. The page shows the currency beside it. */
export function money(cents: number): string {
  const text = dollars.format(Math.abs(cents) / 100)
  return cents < 0 ? `−${text}` : text
}

/** Commas and spaces may only separate thousands: a person who types `12,50` may mean 12.50, so it is not read as 1,250. */
const TYPED = /^\$?\s*(\d{1,3}(?:[,\s]\d{3})+|\d{1,12})(?:\.(\d{1,2}))?$/

/** Parses dollars that a person typed, such as `1,234.5`, to cents; undefined for any other text and for more than `most`. */
export function parseMoney(typed: string, most = 100_000_000_000): number | undefined {
  const [matched, thousands = '', fraction = ''] = TYPED.exec(typed.trim()) ?? []
  if (matched === undefined) return undefined
  const whole = thousands.replaceAll(/[,\s]/g, '')
  const cents = Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
  return cents <= most ? cents : undefined
}
