/** Formats US cents for a person: `22,794.11 USD`. */
export function money(cents: number): string {
  return `${(cents / 100).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} USD`
}
