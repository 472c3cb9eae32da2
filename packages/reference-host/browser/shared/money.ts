const dollars = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** Cents as dollars, such as `1,234.50`, with a true minus. The currency is shown beside it once. */
export function money(cents: number): string {
  const text = dollars.format(Math.abs(cents) / 100)
  return cents < 0 ? `−${text}` : text
}

/** Commas and spaces separate thousands only: `12,50` means 12.50 to who writes it, and must not become 1,250. */
const TYPED = /^\$?\s*(\d{1,3}(?:[,\s]\d{3})+|\d{1,12})(?:\.(\d{1,2}))?$/

/** Reads dollars that a person typed, such as `1,234.5`, as cents; undefined for anything else and for more than `most`. */
export function parseMoney(typed: string, most = 100_000_000_000): number | undefined {
  const [matched, thousands = '', fraction = ''] = TYPED.exec(typed.trim()) ?? []
  if (matched === undefined) return undefined
  const whole = thousands.replaceAll(/[,\s]/g, '')
  const cents = Number(whole) * 100 + Number(fraction.padEnd(2, '0'))
  return cents <= most ? cents : undefined
}
