import { EVENT_LANES } from '@gatewright/host/internal'

/** How far a reader has read: for each lane the last place. */
export type Places = readonly number[]

/** The places before all events. */
export const START: Places = Array.from({ length: EVENT_LANES }, () => 0)

const FORM = new RegExp(`^\\d{1,16}(?:\\.\\d{1,16}){${EVENT_LANES - 1}}$`)

/** Writes places as a text, which `readPlaces` reads. */
export function writePlaces(places: Places): string {
  return places.join('.')
}

/** Reads places. Undefined for another text. */
export function readPlaces(text: string): Places | undefined {
  if (!FORM.test(text)) return undefined
  const places = text.split('.').map(Number)
  return places.every(Number.isSafeInteger) ? places : undefined
}
