import type { ListPosition } from './storage/port.ts'

/** Sorts the latest instant first, those of one instant by falling id. */
export function newestFirst(one: ListPosition, other: ListPosition): number {
  return other.at - one.at || (one.id < other.id ? 1 : -1)
}

/** Whether a row follows a place in that order; without a place every row does. */
export function isAfter(row: ListPosition, place: ListPosition | undefined): boolean {
  return place === undefined || newestFirst(row, place) > 0
}
