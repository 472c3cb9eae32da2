import { createHmac } from 'node:crypto'

/** A range that no network gives to real cards. */
const TEST_BIN = '400000'

/** Derives the number of a card: BIN, 9 digits of an HMAC of its id, check digit. */
export function cardNumber(secret: Uint8Array, cardId: string): string {
  const digits = TEST_BIN + derivedDigits(secret, ['pan', cardId], 9)
  return digits + checkDigit(digits)
}

/** Derives the security code of a card number and its expiry. */
export function securityCode(secret: Uint8Array, pan: string, month: number, year: number): string {
  return derivedDigits(secret, ['cvc', pan, month, year], 3)
}

/** Derives decimal digits, each equally likely: bytes from 250 on are skipped, because 256 is no multiple of 10. */
function derivedDigits(secret: Uint8Array, about: readonly unknown[], count: number): string {
  let digits = ''
  for (let round = 0; digits.length < count; round += 1) {
    const bytes = createHmac('sha256', secret)
      .update(JSON.stringify([...about, round]))
      .digest()
    for (const byte of bytes) if (byte < 250) digits += byte % 10
  }
  return digits.slice(0, count)
}

/** The check digit that makes `digits` with it pass `passesLuhn` (ISO/IEC 7812-1). */
function checkDigit(digits: string): string {
  return String((10 - (luhnSum(`${digits}0`) % 10)) % 10)
}

/** Whether the last digit of a card number is its check digit. */
export function passesLuhn(pan: string): boolean {
  return /^\d+$/.test(pan) && luhnSum(pan) % 10 === 0
}

function luhnSum(digits: string): number {
  return [...digits].reverse().reduce((sum, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2)
    return sum + (value > 9 ? value - 9 : value)
  }, 0)
}
