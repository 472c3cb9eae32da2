/** The text of a key somewhere in a text, such as a header: its id is between its surface and its secret. */
const KEY_TEXT = /_(?:user|partner)_([0-9A-Za-z]{16})_/
/** A whole card number, with or without spaces or hyphens. */
const CARD_NUMBER = /^\d(?:[ -]?\d){7,14}[ -]?(\d{4})$/

/** Returns the id of the key whose whole text somebody pasted, perhaps with more around it; undefined for other texts. */
export const pastedKeyId = (text: string): string | undefined => KEY_TEXT.exec(text)?.[1]

/** Leaves out of a pasted text what must go no further: all of a key but its id, and all digits of a card but the last four. */
export const withoutSecret = (text: string): string =>
  pastedKeyId(text) ?? CARD_NUMBER.exec(text.trim())?.[1] ?? text.trim()
