/** Where a text lies. */
export interface Place {
  readonly bytes: Buffer
  readonly start: number
}

/** Texts of ASCII, outside the JavaScript heap. */
export interface Texts {
  keep(text: string): Place
  /** Overwrites a text of that length; its place may hold another from now on. */
  wipe(place: Place, length: number): void
}

/** Holds the tokens of most issuers. A longer text gets a buffer of its own. */
export const SLOT_BYTES = 1024

const SLOTS_PER_BLOCK = 64

/**
 * Texts of usual length share blocks of memory: a buffer for each would cost as much as all else about its entry, to
 * make and to find. The blocks stay for texts to come: as many as the most texts kept at one time need.
 */
export function keptTexts(): Texts {
  const free: Place[] = []
  const grow = (): void => {
    const bytes = Buffer.allocUnsafeSlow(SLOTS_PER_BLOCK * SLOT_BYTES)
    for (let slot = SLOTS_PER_BLOCK - 1; slot >= 0; slot--) free.push({ bytes, start: slot * SLOT_BYTES })
  }
  const slot = (): Place => {
    if (free.length === 0) grow()
    return free.pop() as Place
  }
  return {
    keep(text) {
      const place =
        text.length <= SLOT_BYTES ? slot() : { bytes: Buffer.allocUnsafeSlow(text.length), start: 0 }
      place.bytes.write(text, place.start, 'latin1')
      return place
    },
    wipe(place, length) {
      const { bytes, start } = place
      bytes.fill(0, start, start + length)
      // Not what was given, which may hold more than its place.
      if (length <= SLOT_BYTES) free.push({ bytes, start })
    },
  }
}
